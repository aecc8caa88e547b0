import type { Context } from 'hono';
import { recordAnswer } from '../records/answer.ts';
import { toResponse } from '../foundation/answer.ts';
import { resourceNamed } from '../collection/custom-objects.ts';
import { matchOnOf, requireUniqueMatchOn } from '../records/match.ts';
import { queryParameters, singleQueryValues, unknownParameter } from '../http/query.ts';
import { hasAccess, redactAnswer } from '../access/redaction.ts';
import { answerWrite, originOf } from '../collection/requests.ts';
import { readRoutes } from '../collection/routes.ts';
import { existingRecord } from '../records/write.ts';
import { requireRightsStill, requireScope } from '../access/authentication.ts';
import { keyedRequest, runOnce } from '../http/idempotency.ts';
import { scopeForRecordsOf } from '../access/scopes.ts';
import { invalidParameter } from '../foundation/problem.ts';
import type { ApiRoute } from '../http/route.ts';
import { recordsName } from '../schemas/custom-objects.ts';
import { resources } from '../schemas/index.ts';
import { type Job, jobOperations, jobs } from '../schemas/jobs.ts';
import { firstVersion } from '../schemas/record.ts';
import { arrangeRecord } from '../schemas/resource.ts';
import type { Env, Service } from '../http/service.ts';
import { countExportedRecords } from './export.ts';
import { cancelJobOperation, createJobOperation, jobResultsOperation } from './operations.ts';
import { JobQueue } from './queue.ts';
import { parseFlag } from '../queries/list-query.ts';
import { parseRange, resultLines } from './results.ts';
import { receiveLines, type Upload } from './upload.ts';
import { jobWorker } from './worker.ts';

/** The routes of jobs. Jobs that a restart interrupted are resumed at once. */
export function jobRoutes(service: Service): ApiRoute[] {
	const { store } = service;
	const queue = new JobQueue(service);
	const wake = jobWorker(store, queue);
	const { list, get } = readRoutes(service, jobs);
	store.jobItems.dropOrphans();
	wake();

	const submit: ApiRoute['handler'] = async (c) => {
		const order = orderOf(service, c);
		requireScope(c, scopeForRecordsOf(order));
		const id = service.newId(jobs.idPrefix, service.now());
		store.jobResults.dropExpired(new Date(service.now()).toISOString());
		try {
			const upload = await uploadOf(service, c, order, id);
			requireRightsStill(service, c);
			requireScope(c, scopeForRecordsOf(order));
			const answer = runOnce(service, keyedRequest(c, upload.digest), () => {
				const job = newJob(service, c, { ...order, id, total: upload.lines });
				store.table(jobs.name)!.save(job);
				const { grant } = c.get('authority')!;
				if (grant) store.begunWith.set(id, grant);
				return recordAnswer(202, job, { Location: `${list.path}/${id}` });
			});
			return toResponse(hasAccess(c, 'read', jobs.name) ? answer : redactAnswer(answer));
		} finally {
			// The upload of a refused or repeated request belongs to no job.
			if (store.isOpen && !store.table(jobs.name)!.find(id)) store.jobItems.drop(id);
			wake();
		}
	};

	const cancel: ApiRoute['handler'] = (c) => {
		queryParameters(c, []);
		return answerWrite(service, jobs, c, false, () => recordAnswer(200, queue.cancel(jobOf(c))));
	};

	const results: ApiRoute['handler'] = (c) => {
		const given = queryParameters(c, ['offset', 'limit', 'records']);
		const range = parseRange(given);
		const isAsked = parseFlag('records', given.get('records') ?? 'true');
		const job = jobOf(c);
		requireScope(c, scopeForRecordsOf(job));
		const mayGoOn = () => {
			requireRightsStill(service, c);
			requireScope(c, scopeForRecordsOf(job));
		};
		const hasRecords = isAsked && hasAccess(c, 'read', job.resource);
		const lines = resultLines(service, job, range, hasRecords, mayGoOn);
		return c.body(lines, 200, { 'Content-Type': 'application/x-ndjson' });
	};

	const jobOf = (c: Context<Env>) =>
		existingRecord(c.get('store'), jobs, c.req.param('id')!) as Job;

	return [
		list,
		{ method: 'POST', path: list.path, handler: submit, operation: createJobOperation },
		get,
		{ method: 'POST', path: `${get.path}/cancel`, handler: cancel, operation: cancelJobOperation },
		{ method: 'GET', path: `${get.path}/results`, handler: results, operation: jobResultsOperation },
	];
}

/** The job that the query of a request describes; the body holds the lines. */
type JobOrder = Pick<Job, 'resource' | 'operation' | 'match_on' | 'query'>;

const ownParameters = ['resource', 'operation', 'match_on'];

/**
 * Parses the query. The remaining parameters of an export are those of the exported list.
 *
 * @throws Problem invalid_parameter, unknown_parameter
 */
function orderOf({ store }: Service, c: Context): JobOrder {
	const given = singleQueryValues(c);
	const resource = resourceNamed(store, given.get('resource') ?? '');
	if (!resource) {
		const names = [...resources.map(({ name }) => name), recordsName('{key}')];
		throw invalidParameter('resource', `resource is one of: ${names.join(', ')}.`);
	}
	const operation = jobOperations.find((name) => name === given.get('operation'));
	if (!operation) {
		throw invalidParameter('operation', `operation is one of: ${jobOperations.join(', ')}.`);
	}
	const others = [...given].filter(([name]) => !ownParameters.includes(name));
	const [other] = others;
	if (operation !== 'export' && other) throw unknownParameter(other[0]);
	if (operation !== 'upsert' && given.has('match_on')) {
		throw invalidParameter('match_on', 'match_on is for the operation upsert only.');
	}
	const matchOn = operation === 'upsert' ? matchOnOf(given) : null;
	if (matchOn !== null) requireUniqueMatchOn(store, resource, matchOn);
	const query = operation === 'export' ? Object.fromEntries(others) : null;
	return { resource: resource.name, operation, match_on: matchOn, query };
}

async function uploadOf({ store }: Service, c: Context<Env>, order: JobOrder, id: string): Promise<Upload> {
	if (order.operation === 'export') {
		const lines = await countExportedRecords(c.get('store'), order);
		return { lines, digest: new Uint8Array() };
	}
	return await receiveLines(c, (lines) =>
		store.transaction(() => {
			for (const line of lines) store.jobItems.add(id, line);
		}),
	);
}

function newJob(
	service: Service,
	c: Context<Env>,
	about: JobOrder & Pick<Job, 'id' | 'total'>,
): Job {
	const at = service.store.writeClock.stamp(service.now());
	const actor = c.get('caller')!;
	return arrangeRecord(jobs, {
		...about,
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
