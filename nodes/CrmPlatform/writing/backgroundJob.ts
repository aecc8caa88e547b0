import type { IDataObject } from 'n8n-workflow';

import { recordIn } from '../api/record';
import type { Query } from '../api/http/path';
import type { JobDescription } from '../api/openapi/jobs';
import type { Execution } from '../model';
import { keyHeaderOf } from './runState';
import { sendWrite } from './single';

/** A job that was started. */
export interface StartedJob {
	id: string;
	/** Its path, with version prefix. */
	path: string;
}

/**
 * Starts a job under an idempotency key; one that an earlier attempt of this run has started is found
 * again.
 *
 * @param lines JSON texts
 * @param key what tells the job from others of this run
 * @throws NodeApiError where the service refuses it; Error in the user's words where it answers
 * without an id
 */
export async function startBackgroundJob(
	execution: Execution,
	description: JobDescription,
	{ query, lines }: { query: Query; lines?: string[] },
	key: number[],
): Promise<StartedJob> {
	const { path, idempotencyHeader, idempotencyKey } = description;
	const write = {
		method: 'POST' as const,
		fields: [],
		...(idempotencyHeader !== undefined && { idempotencyHeader }),
		...(idempotencyKey && { idempotencyKey }),
	};
	const header = keyHeaderOf(execution, write, 'single');
	const { body } = await sendWrite(execution, write, header, { path, query, ...(lines && { lines }) }, key);
	const id = recordIn(body, path)?.id;
	if (typeof id === 'string' && id !== '') return { id, path: `${path}/${encodeURIComponent(id)}` };
	throw new Error(
		`The service did not say which job it has started. Look at its jobs before you run this again.`,
	);
}

/** Milliseconds between two requests for a job's status: fewer requests the longer it takes. */
const firstPause = 200;
const longestPause = 5_000;
/** Small, so that the end is noticed soon after it: after a tenth of the time it took, on average. */
const pauseGrowth = 1.2;

const ends = ['completed', 'failed', 'canceled'];

/** Seconds, where the user has set no Longest Wait: that of a request is too short for most jobs. */
const longestJob = 3600;

/**
 * Waits until a job has ended, however it ended.
 *
 * @returns the job
 * @throws Error in the user's words where it takes longer than the user's Longest Wait, or an hour
 */
export async function waitForJob({ api, n8n }: Execution, item: number, { id, path }: StartedJob): Promise<IDataObject> {
	const wanted = Number(n8n.getNodeParameter('options.longestWait', item, NaN));
	const longest = wanted >= 0 ? wanted : longestJob;
	let waited = 0;
	for (let pause = firstPause; ; pause = Math.min(longestPause, pause * pauseGrowth)) {
		const { body } = await api.send({ method: 'GET', path });
		const job = recordIn(body, path) ?? {};
		if (ends.includes(String(job.status))) return job;
		if (waited === 0) n8n.logger.info(`${n8n.getNode().name}: waiting for ${id} to end`);
		if (waited + pause > longest * 1000) {
			throw new Error(
				`The job did not finish within ${longest} s and is still running. Increase Longest Wait in the options and retry the execution: it finds the job again.`,
			);
		}
		await api.pause(pause);
		waited += pause;
	}
}

/** Results asked for at once. */
const resultsPerRequest = 1_000;

/**
 * Reads the results of a job that has ended, a part at a time.
 *
 * @param path of the job
 * @param chosen what else the results are asked with
 * @throws Error in the user's words where a line is not an object
 */
export async function* readJobResults(
	{ api }: Execution,
	path: string,
	chosen: Query = {},
): AsyncGenerator<IDataObject[], void> {
	const partFrom = async (offset: number): Promise<IDataObject[]> => {
		const query = { ...chosen, offset, limit: resultsPerRequest };
		const { body } = await api.send({ method: 'GET', path: `${path}/results`, query });
		return resultLines(body, path);
	};
	let offset = 0;
	let reading = partFrom(offset);
	for (;;) {
		const results = await reading;
		const isLast = results.length < resultsPerRequest;
		offset += results.length;
		if (!isLast) {
			// Read while this part is worked on; a failure is thrown when its turn comes.
			reading = partFrom(offset);
			reading.catch(() => undefined);
		}
		if (results.length > 0) yield results;
		if (isLast) return;
	}
}

/** @throws Error in the user's words where a line is not an object */
function resultLines(body: unknown, path: string): IDataObject[] {
	const lines: unknown[] = Array.isArray(body) ? body : body === undefined || body === null ? [] : [body];
	if (lines.every((line) => typeof line === 'object' && line !== null)) return lines as IDataObject[];
	throw new Error(
		`The response from ${path} does not have one record per line. Check that the base URL in the credential is the address of the API, then try again.`,
	);
}
