import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from './server-process.ts';

interface JobOptions {
	/** One JSON text per line. */
	lines?: string;
	headers?: Record<string, string>;
	/** Interval of the polls. */
	pollMs?: number;
}

/** Runs a background job until it has ended. @returns its ID */
export async function runJob({ call }: Server, query: string, { lines = '', headers, pollMs = 20 }: JobOptions = {}): Promise<string> {
	const type = { 'Content-Type': 'application/x-ndjson' };
	const { id } = JSON.parse(await call('POST', `/v1/jobs?${query}`, lines, { ...type, ...headers })) as { id: string };
	for (;;) {
		const job = await call('GET', `/v1/jobs/${id}`);
		if (/"status":"(failed|canceled)"/.test(job)) throw new Error(`The job has not succeeded: ${job}`);
		if (!job.includes('"finished_at":null')) return id;
		await sleep(pollMs);
	}
}
