import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { pageWith, plotOf } from '../../bench/peers/page.ts';
import type { PeerResults } from '../../bench/peers/results.ts';

const read = (file: string) => readFileSync(resolve(__dirname, '../..', file), 'utf8');
const results = JSON.parse(read('bench/results/peers.json')) as PeerResults;

test('the page on other nodes has the figures that were measured, in words and in the picture', () => {
	const page = read('bench/peers.md');
	expect(pageWith(results, page)).toBe(page);
	expect(plotOf(results)).toBe(read('bench/peers.svg'));
});
