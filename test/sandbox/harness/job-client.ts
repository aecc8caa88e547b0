import { until } from '../../support/until.ts';
import type { InProcess, Json, Reply } from './in-process.ts';

export const ndjson = { 'Content-Type': 'application/x-ndjson' };

export const linesOf = (items: unknown[]): string =>
	items.map((item) => `${JSON.stringify(item)}\n`).join('');

export const people = (count: number): Array<{ external_id: string; last_name: string }> =>
	Array.from({ length: count }, (_, i) => ({ external_id: `${i}`, last_name: 'Moreno' }));

type Lines = unknown[] | string | Uint8Array | ReadableStream;

/** Starts a job with contacts; without lines, an export. */
export const startJob = (
	{ post }: InProcess,
	operation: string,
	lines?: Lines,
	headers: Record<string, string> = {},
): Promise<Reply> =>
	post(
		`/v1/jobs?resource=contacts&operation=${operation}`,
		Array.isArray(lines) ? linesOf(lines) : lines,
		{ ...(lines !== undefined && ndjson), ...headers },
	);

/** Waits until a job has ended. @returns the job */
export async function ended({ get }: InProcess, id: string): Promise<Json> {
	return await until(async () => {
		const { body } = await get(`/v1/jobs/${id}`);
		return body.finished_at !== null && body;
	});
}

/** Starts a job and waits until it has ended. */
export async function runJob(sandbox: InProcess, operation: string, lines?: Lines): Promise<{ job: Json; results: Json[] }> {
	const { body } = await startJob(sandbox, operation, lines);
	const job = await ended(sandbox, body.id);
	return { job, results: (await sandbox.get(`/v1/jobs/${job.id}/results`)).body };
}
