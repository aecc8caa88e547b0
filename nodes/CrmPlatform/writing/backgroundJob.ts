import type { IDataObject } from 'n8n-workflow';

import { ruleBroken } from '../api/http/rules';
import { idText } from '../base/json';
import { wholePath, type Query } from '../api/http/path';
import { inParallel } from '../api/inParallel';
import { readAhead } from '../api/lists/pages';
import { systemClock } from '../base/clock';
import type { JobDescription } from '../api/openapi/writing';
import { recordIn } from '../api/record';
import type { NodeRun } from '../model';
import { parseWholeNumber } from '../values/parsers';
import { stateOfRun } from './runState';
import { sendUnderKey } from './sendAlone';

export interface StartedJob {
	id: string;
	path: string;
	/** Whether an earlier request had started it. */
	isReplayed?: boolean | undefined;
}

/**
 * Starts a job under an idempotency key, by which a later attempt of this run finds it again.
 *
 * @param lines JSON texts
 * @param keyParts distinguishes the job from others of this run
 * @throws NodeApiError if the service refuses the job; Error in the user's words if its response has no id
 */
export async function startBackgroundJob(
	run: NodeRun,
	description: JobDescription,
	{ query, lines }: { query: Query; lines?: string[] },
	keyParts: number[],
): Promise<StartedJob> {
	const { path } = description;
	const { body, isReplayed } = await sendUnderKey(run, description, { method: 'POST', path, query, lines }, { keyParts });
	const id = idText(recordIn(body, path)?.id);
	if (id !== undefined) return { ...startedJob(description, id), isReplayed };
	throw new Error('The CRM started a job but returned no job ID. Check its jobs before you run this again.');
}

export const startedJob = ({ path }: JobDescription, id: string): StartedJob => ({ id, path: `${path}/${encodeURIComponent(id)}` });

/** Milliseconds between two requests for a job's status; the pause grows with the duration of the job. */
const firstPause = 200;
const maxPause = 5_000;
/** Small, so that the end is noticed soon: on average, after another tenth of the job's duration. */
const pauseGrowth = 1.2;

const readJob = async ({ api }: NodeRun, { path }: StartedJob): Promise<IDataObject> => recordIn((await api.send({ method: 'GET', path })).body, path) ?? {};

const isEnd = ({ status }: IDataObject): boolean => ['completed', 'failed', 'canceled'].includes(String(status));

/** The jobs for which attempts at a run have waited in vain, and those started with them, by id: a retry finds them again. */
interface UnfinishedJobs {
	runKey: number | string;
	jobs?: Record<string, true>;
}

const unfinishedJobs = (run: NodeRun) => (stateOfRun<UnfinishedJobs>(run, 'unfinishedJobs').jobs ??= {});

/**
 * Whether earlier requests had started some of the jobs only, or one that ended before this attempt, unless that had waited
 * in vain for one of them.
 */
export async function areOutdatedJobs(run: NodeRun, started: StartedJob[]): Promise<boolean> {
	const replayed = started.filter(({ isReplayed }) => isReplayed);
	const outdated = await inParallel(replayed, async (job) => {
		const read = await readJob(run, job);
		return isEnd(read) && !(read.status === 'completed' && unfinishedJobs(run)[job.id]);
	});
	return outdated.includes(true) || (replayed.length > 0 && replayed.length < started.length);
}

/** A retry does not find the jobs again once they have ended. */
export function forgetJobs(run: NodeRun, jobs: StartedJob[]): void {
	for (const { id } of jobs) delete unfinishedJobs(run)[id];
}

/** Default Maximum Wait in seconds: the default of a request is too short for most jobs. */
const maxJobTime = 3600;

/**
 * Waits until a job has completed, failed or been canceled.
 *
 * @param together the jobs that a retry finds again only together with this one
 * @throws Error in the user's words if it takes longer than the user's Maximum Wait, by default an hour
 */
export async function waitForJob(run: NodeRun, item: number, started: StartedJob, together = [started]): Promise<IDataObject> {
	const { api, n8n } = run;
	const { id } = started;
	const value: unknown = n8n.getNodeParameter('options.maxWait', item, null);
	const maxSeconds = parseWholeNumber('Maximum Wait', value, { otherwise: maxJobTime });
	const name = n8n.getNode().name;
	const begun = systemClock.now();
	for (let pause = firstPause; ; pause = Math.min(maxPause, pause * pauseGrowth)) {
		const job = await readJob(run, started);
		if (job.status === 'completed') return job;
		if (isEnd(job)) {
			n8n.logger.warn(`${name}: ${id} is ${String(job.status)}: ${endReason(job) ?? 'the CRM gives no reason'}`);
			return job;
		}
		if (pause === firstPause) n8n.logger.info(`${name}: waiting for ${id} to end`);
		const remaining = begun + maxSeconds * 1000 - systemClock.now();
		if (remaining <= 0) {
			for (const job of together) unfinishedJobs(run)[job.id] = true;
			throw new Error(
				`The job did not finish within ${maxSeconds} s and is still running. `
				+ 'Increase Maximum Wait in the options and retry the execution: it finds the job again.',
			);
		}
		await api.pause(Math.min(pause, remaining));
	}
}

const resultsPerRequest = 1_000;

/**
 * Reads the results of an ended job in pages, the next one while the caller handles a page. A page may be shorter than
 * requested. The results end after their total number, or with an empty page.
 *
 * @param path of the job
 * @param chosen further query parameters
 * @throws Error in the user's words if a line is not an object, or if the service repeats a page
 */
export const readJobResults = (run: NodeRun, path: string, total: number, chosen: Query = {}): AsyncGenerator<IDataObject[], void> =>
	readAhead(resultPages(run, path, total, chosen));

async function* resultPages({ api }: NodeRun, path: string, total: number, chosen: Query): AsyncGenerator<IDataObject[], void> {
	let offset = 0;
	let previousFirst: string | undefined;
	do {
		const query = { ...chosen, offset, limit: resultsPerRequest };
		const { body } = await api.send({ method: 'GET', path: `${path}/results`, query });
		const results = resultLines(body, path);
		if (results.length === 0) return;
		const first = identityOf(results[0]!);
		if (first !== undefined && first === previousFirst) {
			throw ruleBroken(20, `Results ${wholePath(path)}`, 'The CRM returns the same results again and again, so they cannot be read to the end.');
		}
		previousFirst = first;
		offset += results.length;
		yield results;
	} while (offset < total);
}

/** Identifies a result: its line, or the id of its record. */
const identityOf = ({ index, id }: IDataObject): string | undefined =>
	index === undefined && id === undefined ? undefined : JSON.stringify([index, id]);

/** Why a job ended, in the service's words, if it states a reason. */
export const endReason = ({ error }: IDataObject): string | undefined => (typeof error === 'string' && error !== '' ? error : undefined);

/** @throws Error in the user's words if a line is not an object */
function resultLines(body: unknown, path: string): IDataObject[] {
	const lines: unknown[] = Array.isArray(body) ? body : body === undefined || body === null ? [] : [body];
	if (lines.every((line) => typeof line === 'object' && line !== null)) return lines as IDataObject[];
	throw new Error(
		`The response from ${wholePath(path)} does not have one record per line. `
		+ 'Check that the base URL in the credential is the URL of the API, then try again.',
	);
}
