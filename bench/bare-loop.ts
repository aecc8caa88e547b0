import { randomUUID } from 'node:crypto';
import type { Server } from './server-process.ts';

/** The connector's limit, so that both do the same. */
const batchSize = 100;
const batchesAtOnce = 4;

/**
 * Reads all contacts as a few lines of script would: page after page over a kept-alive connection.
 *
 * @param query of the first page, such as `limit=500`
 */
export async function bareContacts(server: Server, query: string): Promise<unknown[]> {
	const records: unknown[] = [];
	let cursor: string | null = '';
	while (cursor !== null) {
		const from = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
		const text = await server.call('GET', `/v1/contacts?${query}${from}`);
		const page = JSON.parse(text) as { data: unknown[]; next_cursor: string | null };
		for (const record of page.data) records.push(record);
		cursor = page.next_cursor;
	}
	return records;
}

interface BatchResult {
	status: number;
	/** The record, except after a deletion. */
	data: { id: string; contact_id?: string };
}

/** Writes records in batches, a few at a time, and returns the results. */
export async function sendBatches(server: Server, path: string, items: object[]): Promise<BatchResult[]> {
	const allResults: BatchResult[] = [];
	await inBatches(items, async (batch) => {
		const text = await server.call('POST', path, JSON.stringify({ items: batch }), { 'Idempotency-Key': randomUUID() });
		const { results } = JSON.parse(text) as { results: BatchResult[] };
		if (results.some(({ status }) => status >= 400)) throw new Error(text);
		allResults.push(...results);
	});
	return allResults;
}

/** Sends items in batches, a few at a time. */
async function inBatches<Item>(items: Item[], send: (batch: Item[]) => Promise<void>): Promise<void> {
	let next = 0;
	const lane = async () => {
		while (next < items.length) {
			await send(items.slice(next, (next += batchSize)));
		}
	};
	await Promise.all(Array.from({ length: batchesAtOnce }, lane));
}
