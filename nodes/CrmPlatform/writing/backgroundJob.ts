import type { IDataObject } from 'n8n-workflow';

import { idText } from '../base/json';
import type { Query } from '../api/http/path';
import { readProblemBody, saysError } from '../api/http/problemBody';
import { systemClock } from '../base/clock';
import type { JobDescription } from '../api/openapi/jobs';
import { recordIn } from '../api/answeredRecord';
import type { Execution } from '../model';
import { readWholeNumber } from '../values/readers';
import { keyHeaderOf } from './runState';
import { sendWrite } from './writeOne';

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
	const id = idText(recordIn(body, path)?.id);
	if (id !== undefined) return startedJob(description, id);
	throw new Error(
		`The CRM started a job but returned no job ID. Check its jobs before you run this again.`,
	);
}

/** A job whose id is known. */
export const startedJob = ({ path }: JobDescription, id: string): StartedJob => ({
	id,
	path: `${path}/${encodeURIComponent(id)}`,
});

/** Milliseconds between two requests for a job's status: fewer requests the longer it takes. */
const firstPause = 200;
const maxPause = 5_000;
/** Small, so that the end is noticed soon: on average after another tenth of the job's duration. */
const pauseGrowth = 1.2;

const ends = ['completed', 'failed', 'canceled', 'cancelled'];

/** Seconds without a Maximum Wait of the user: that of a request is too short for most jobs. */
const maxJobTime = 3600;

/**
 * Waits until a job has ended, however it ended.
 *
 * @param stopped rejects when nobody waits for the job any more
 * @returns the job
 * @throws Error in the user's words where it takes longer than the user's Maximum Wait, or an hour
 */
export async function waitForJob(
	{ api, n8n }: Execution,
	item: number,
	{ id, path }: StartedJob,
	stopped: Promise<never> = new Promise(() => undefined),
): Promise<IDataObject> {
	const value: unknown = n8n.getNodeParameter('options.maxWait', item, null);
	const maxSeconds = readWholeNumber('Maximum Wait', value, { otherwise: maxJobTime });
	const name = n8n.getNode().name;
	const begun = systemClock.now();
	for (let pause = firstPause; ; pause = Math.min(maxPause, pause * pauseGrowth)) {
		const { body } = await Promise.race([api.send({ method: 'GET', path }), stopped]);
		const job = recordIn(body, path) ?? {};
		if (job.status === 'completed') return job;
		if (ends.includes(String(job.status))) {
			n8n.logger.warn(`${name}: ${id} is ${String(job.status)}: ${endReason(job) ?? 'the CRM gives no reason'}`);
			return job;
		}
		if (pause === firstPause) n8n.logger.info(`${name}: waiting for ${id} to end`);
		const left = begun + maxSeconds * 1000 - systemClock.now();
		if (left <= 0) {
			throw new Error(
				`The job did not finish within ${maxSeconds} s and is still running. Increase Maximum Wait in the options and retry the execution: it finds the job again.`,
			);
		}
		await Promise.race([api.pause(Math.min(pause, left)), stopped]);
	}
}

const resultsPerRequest = 1_000;

/**
 * Reads the results of a job that has ended, a part at a time. A part may be shorter than requested. The
 * results end after their total number, or with an empty part.
 *
 * @param path of the job
 * @param total how many there are, as far as that is known
 * @param chosen further query parameters
 * @throws Error in the user's words where a line is not an object, or a part comes twice
 */
export async function* readJobResults(
	{ api }: Execution,
	path: string,
	total = Infinity,
	chosen: Query = {},
): AsyncGenerator<IDataObject[], void> {
	const partFrom = async (offset: number): Promise<IDataObject[]> => {
		const query = { ...chosen, offset, limit: resultsPerRequest };
		const { body } = await api.send({ method: 'GET', path: `${path}/results`, query });
		return resultLines(body, path);
	};
	let offset = 0;
	let first: string | undefined;
	let reading = partFrom(offset);
	for (;;) {
		const results = await reading;
		if (results.length === 0) return;
		const again = nameOf(results[0]!);
		if (again !== undefined && again === first) {
			throw new Error(`The CRM returns the same results of ${path} again and again, so they cannot be read to the end. Please report this to the CRM’s support.`);
		}
		first = again;
		offset += results.length;
		if (offset < total) {
			// Read while this part is worked on; a failure is thrown when its turn comes.
			reading = partFrom(offset);
			reading.catch(() => undefined);
		}
		yield results;
		if (offset >= total) return;
	}
}

/** Identifies a result: its line, or the id of its record. */
const nameOf = ({ index, id }: IDataObject): string | undefined =>
	index === undefined && id === undefined ? undefined : JSON.stringify([index, id]);

/** Why a job ended, in the service's words, if it says so. */
export function endReason({ error }: IDataObject): string | undefined {
	if (!saysError(error)) return undefined;
	const { detail, title, errors, code } = readProblemBody(error);
	return detail ?? title ?? errors?.find((entry) => entry.detail !== undefined)?.detail ?? code ?? JSON.stringify(error);
}

/** The number of results that a job states; undefined where it states none. */
export function statedCount(job: IDataObject, name: 'total' | 'processed'): number | undefined {
	const count = job[name];
	return Number.isSafeInteger(count) && Number(count) >= 0 ? Number(count) : undefined;
}

/** @throws Error in the user's words where a line is not an object */
function resultLines(body: unknown, path: string): IDataObject[] {
	const lines: unknown[] = Array.isArray(body) ? body : body === undefined || body === null ? [] : [body];
	if (lines.every((line) => typeof line === 'object' && line !== null)) return lines as IDataObject[];
	throw new Error(
		`The response from ${path} does not have one record per line. Check that the base URL in the credential is the URL of the API, then try again.`,
	);
}
