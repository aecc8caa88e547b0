import { randomUUID } from 'node:crypto';
import { bareContacts, inBatches } from './bare-loop.ts';
import type { Server } from './server-process.ts';

export interface FormerValues {
	id: string;
	job_title: string | null;
	lead_source: string | null;
}

/** All contacts of the service. */
export const readFormerValues = async (server: Server) =>
	((await bareContacts(server, 'limit=500&sort=id&fields=job_title,lead_source')) as FormerValues[]).map(
		({ id, job_title, lead_source }): FormerValues => ({ id, job_title, lead_source }),
	);

/** Writes in batches, a few at a time. */
export async function bareUpdates(server: Server, items: object[]): Promise<void> {
	await inBatches(items, async (batch) => {
		const key = { 'Idempotency-Key': randomUUID() };
		const { summary, results } = JSON.parse(await server.call('POST', '/v1/contacts/batch/update', JSON.stringify({ items: batch }), key)) as { summary: { failed: number }; results: Array<{ status: number }> };
		if (summary.failed > 0) throw new Error(JSON.stringify(results.find(({ status }) => status >= 400)));
	});
}
