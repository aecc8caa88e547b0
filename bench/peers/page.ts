import { connectionsPage } from './connections-tables.ts';
import { plot } from './bar-plot.ts';
import type { PeerResults } from './results.ts';
import { figuresPage } from './tables.ts';

/**
 * Fills bench/peers.md with the figures of these results.
 *
 * @throws Error if the page lacks the markers between which they belong
 */
export function pageWith(results: PeerResults, page: string): string {
	return fillSection(fillSection(page, 'figures', figuresPage(results)), 'connections', connectionsPage(results));
}

/** Replaces the text between two comments. */
function fillSection(page: string, place: string, text: string): string {
	const [begin, end] = [`<!-- ${place}, written by npm run bench peers -->`, `<!-- end of ${place} -->`];
	const [before, rest = ''] = page.split(begin);
	const [, after] = rest.split(end);
	if (after === undefined) throw new Error(`bench/peers.md has no ${begin} or no ${end}.`);
	return `${before}${begin}\n\n${text}\n\n${end}${after}`;
}

/** The page's picture: figures for a service in the same region. */
export function peersPlot({ works }: PeerResults): string {
	const chartedWorks = works.filter(({ network }) => network.tls && network.ms === 5);
	return plot(
		'Seconds, at 5 ms over TLS (logarithmic)',
		chartedWorks
			.filter(({ task, count }) => count > 1 && (task !== 'list' || count === 100_000))
			.map((work) => ({ name: `${work.task} ${work.count.toLocaleString('en')}`, work })),
	);
}
