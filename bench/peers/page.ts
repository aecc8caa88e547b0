import { connectionsPage } from './connections-tables.ts';
import { plot } from './plot.ts';
import type { PeerResults } from './results.ts';
import { figuresPage } from './tables.ts';

/**
 * bench/peers.md with the figures of these results.
 *
 * @throws Error if the page has no place for them
 */
export function pageWith(results: PeerResults, page: string): string {
	return fillSection(fillSection(page, 'figures', figuresPage(results)), 'connections', connectionsPage(results));
}

/** Replaces what stands between two comments, which stay. */
function fillSection(page: string, place: string, text: string): string {
	const [begin, end] = [`<!-- ${place}, written by npm run bench peers -->`, `<!-- end of ${place} -->`];
	const [before, rest = ''] = page.split(begin);
	const [, after] = rest.split(end);
	if (after === undefined) throw new Error(`bench/peers.md has no ${begin} or no ${end}.`);
	return `${before}${begin}\n\n${text}\n\n${end}${after}`;
}

/** The picture of the page: what a service in the same region takes. */
export function plotOf({ works }: PeerResults): string {
	const chartedWorks = works.filter(({ network }) => network.tls && network.ms === 5);
	return plot(
		'Seconds, at 5 ms over TLS (logarithmic)',
		chartedWorks
			.filter(({ task, count }) => count > 1 && (task !== 'list' || count === 100_000))
			.map((work) => ({ name: `${work.task} ${work.count.toLocaleString('en')}`, work })),
	);
}
