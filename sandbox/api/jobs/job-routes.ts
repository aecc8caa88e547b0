import { z } from 'zod/v4';
import type { Context } from 'hono';
import { recordResponse } from '../../core/store/records/record-json.ts';
import { toResponse } from '../../core/foundation/response-data.ts';
import { mayRead, redactResponse, redactResult } from '../../domain/access/redaction.ts';
import { originOf, respondToBodylessWrite } from '../collection/respond-to-write.ts';
import { type ApiRoute, endpoint } from '../endpoint/endpoint.ts';
import { noContent, success } from '../endpoint/responses.ts';
import { readEndpoints } from '../collection/record-routes.ts';
import { existingRecord } from '../../domain/records/write.ts';
import { requireScope } from '../../domain/access/authentication.ts';
import { limitBodyTo } from '../http/body.ts';
import { keyedRequest, runOnce } from '../http/idempotency.ts';
import { scopeForRecordsOf } from '../../domain/access/scopes.ts';
import { type Job, jobLimits, jobs } from '../../core/schemas/jobs.ts';
import { firstVersion } from '../../core/schemas/record.ts';
import { arrangeRecord } from '../../core/schemas/resource.ts';
import type { Env, Service } from '../../core/service.ts';
import { countExportedRecords, exportLine } from './job-step.ts';
import { exportParameter, type JobRequest, requestedJob, jobQuery, receiveLines } from './job-request.ts';
import { JobQueue, jobWorker, hasEnded } from './job-queue.ts';
import type { JsonObject } from '../../core/foundation/json.ts';
import { Problem } from '../../core/foundation/problem.ts';

const ndjson = 'application/x-ndjson';

const jobLink = (operationId: string) => ({ operationId, parameters: { id: '$response.body#/id' } });

const resultsQuery = z.object({
	offset: z.int().min(0).default(0).meta({ description: 'Number of results to skip, such as those already received.' }),
	limit: z.int().min(1).optional().meta({ description: 'Maximum number of results; by default all.' }),
	records: z.boolean().default(true).meta({
		description:
			'Whether results contain the written records or only their ids and versions. An export ' +
			'always contains its records.',
	}),
});

const path = `/v1/${jobs.name}`;
const tag = jobs.name;

const createJob = (service: Service, wake: () => void): ApiRoute =>
	endpoint({
		method: 'POST',
		path,
		id: 'createJob',
		tag,
		summary: 'Start a job',
		description:
			'Processes many records in the background. Send one JSON object per line, like an item of ' +
			'the batch of the same operation: at most 100,000 lines or 50 MB, and 1 MiB per line, as ' +
			'`x-limits` states. ' +
			'An export takes no body: its results are the records that a list with its query would ' +
			'return. Records whose sort fields change during an export can be missed or repeated; ' +
			'created_at, the default order, never changes. Five jobs run at a time; others are queued. ' +
			'Each line is processed exactly once, even if the service restarts. An access token also ' +
			'needs the scope of the records: write, or read for an export.',
		query: jobQuery,
		filters: () => [exportParameter],
		body: {
			content: {
				[ndjson]: {
					schema: { type: 'string', description: 'One JSON object per line.' },
					example: '{"email":"ana@x.example"}\n{"email":"eva@x.example"}\n',
				},
			},
		},
		middleware: limitBodyTo(jobLimits.bytes, 'A job accepts at most 50 MB (50,000,000 bytes). Send it as several jobs.'),
		responses: {
			202: {
				...success('The job, queued.', 'Job', 'ETag', 'Location'),
				links: { job: jobLink('getJob'), results: jobLink('getJobResults'), cancel: jobLink('cancelJob') },
			},
		},
		extensions: () => ({ 'x-limits': jobLimits }),
		handle: async (c, query, queryTexts) => await startJob(service, c, requestedJob(service, query, queryTexts), wake),
	});

async function startJob(service: Service, c: Context<Env>, request: JobRequest, wake: () => void): Promise<Response> {
	const { store } = service;
	requireScope(c, scopeForRecordsOf(request));
	const { exported, ...job } = request;
	const isExport = job.operation === 'export';
	const { bytes, lines } = isExport ? { bytes: new Uint8Array(), lines: [exportLine({ query: exported })] } : await receiveLines(c);
	const total = isExport ? countExportedRecords(c.get('store'), job.resource, exported) : lines.length;
	const response = runOnce(service, keyedRequest(c, bytes), () => {
		const now = service.now();
		store.jobResults.dropExpired(new Date(now).toISOString());
		const id = service.newId(jobs.idPrefix, now);
		const stored = newJob(service, c, { ...job, id, total });
		store.table(jobs.name)!.add(stored);
		for (const line of lines) store.jobLines.add(id, line);
		const { grant } = c.get('authority')!;
		if (grant) store.creationGrants.set(id, grant);
		return recordResponse(202, stored, { Location: `${path}/${id}` });
	});
	wake();
	return toResponse(redactResponse(c, jobs.name, response));
}

const cancelJob = (service: Service, queue: JobQueue): ApiRoute =>
	endpoint({
		method: 'POST',
		path: `${path}/{id}/cancel`,
		id: 'cancelJob',
		tag,
		summary: 'Cancel a job',
		description: 'Cancels a job that is queued or processing. Lines that were processed stay processed.',
		responses: { 200: success('The job, canceled.', 'Job', 'ETag') },
		handle: (c) => respondToBodylessWrite(service, jobs, c, () => recordResponse(200, queue.cancel(jobOf(c)))),
	});

const getResults = (service: Service): ApiRoute =>
	endpoint({
		method: 'GET',
		path: `${path}/{id}/results`,
		id: 'getJobResults',
		tag,
		summary: 'Get the results of a job',
		description:
			'Returns one JSON object per line: the result that a batch has for the item, where index is ' +
			'the line, from 0; for an export, the record. The order never changes, so after a lost ' +
			'connection, continue with offset. Results are kept for seven days after the end of ' +
			'the job. An access token needs the scope that starting the job needs; without the scope to ' +
			'read the records, results hold only their ids and versions.',
		query: resultsQuery,
		responses: {
			200: {
				...noContent('The results, line by line.'),
				content: { [ndjson]: { schema: { type: 'string', description: 'One JSON object per line.' } } },
			},
		},
		errors: [409, 410],
		handle(c, { offset, limit = -1, records }) {
			const job = jobOf(c);
			requireScope(c, scopeForRecordsOf(job));
			const hasRecords = records && mayRead(c, job.resource);
			const lines = resultLines(service, job, { offset, limit }, hasRecords);
			return c.body(lines, 200, { 'Content-Type': ndjson });
		},
	});

/** The routes of jobs. Jobs that a restart interrupted are resumed at once. */
export function jobRoutes(service: Service): ApiRoute[] {
	const queue = new JobQueue(service);
	const wake = jobWorker(service.store, queue);
	const { list, get } = readEndpoints(service, jobs);
	wake();
	return [endpoint(list), createJob(service, wake), endpoint(get), cancelJob(service, queue), getResults(service)];
}

const jobOf = (c: Context<Env>) => existingRecord(c.get('store'), jobs, c.req.param('id')!) as Job;

function newJob(service: Service, c: Context<Env>, request: Omit<JobRequest, 'exported'> & Pick<Job, 'id' | 'total'>): Job {
	const at = service.store.writeClock.stamp(service.now());
	const actor = c.get('caller')!;
	return arrangeRecord(jobs, {
		...request,
		object: jobs.object,
		status: 'queued',
		processed: 0,
		succeeded: 0,
		failed: 0,
		request: originOf(c),
		application_id: c.get('authority')!.application ?? null,
		...firstVersion(actor, at),
	}) as Job;
}

/** The requested results: how many to skip, and how many to return at most. */
interface Range {
	offset: number;
	limit: number;
}

/**
 * The results of a job as newline-delimited JSON, in the order of its lines.
 *
 * @param hasRecords whether results hold the written records, or only their ids and versions
 * @throws Problem job_not_finished, results_expired
 */
function resultLines(
	service: Service,
	job: Job,
	{ offset, limit }: Range,
	hasRecords: boolean,
): string {
	const { store } = service;
	const now = new Date(service.now()).toISOString();
	if (!hasEnded(job)) {
		throw new Problem('job_not_finished', `The job is ${job.status}. Try again when it has ended.`, {
			headers: { 'Retry-After': '1' },
		});
	}
	if (job.results_expire_at! <= now) {
		throw new Problem('results_expired', `The results were kept until ${job.results_expire_at}.`);
	}
	const texts = store.jobResults.page(job.id, offset - 1, limit).map(({ text }) => (hasRecords ? text : withoutRecord(text)));
	return texts.map((text) => `${text}\n`).join('');
}

const withoutRecord = (line: string): string => JSON.stringify(redactResult(JSON.parse(line) as JsonObject));
