import { fillSection } from '../../tools/marked-section.ts';
import { connectionsPage } from './connections-tables.ts';
import { plot } from './bar-plot.ts';
import type { PeerResults } from './results.ts';
import { figuresPage } from './tables.ts';

const markersOf = (section: string) => [`<!-- ${section}, written by npm run bench peers -->`, `<!-- end of ${section} -->`] as const;

/**
 * Fills bench/peers.md with the figures of these results.
 *
 * @throws Error if the page lacks the markers between which they belong
 */
export function pageWith(results: PeerResults, page: string): string {
	return fillSection(fillSection(page, markersOf('figures'), figuresPage(results)), markersOf('connections'), connectionsPage(results));
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
