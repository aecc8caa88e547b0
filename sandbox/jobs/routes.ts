import type { Context } from 'hono';
import { recordAnswer, toResponse } from '../collection/answer.ts';
import { resourceNamed } from '../collection/custom-objects.ts';
import { matchOnOf, refuseOtherMatchOn } from '../collection/match.ts';
import { queryOf, singleValues, unknownParameter } from '../collection/query.ts';
import { may, withoutReading } from '../collection/reading.ts';
import { answerWrite, originOf } from '../collection/requests.ts';
import { collectionRoutes } from '../collection/routes.ts';
import { existingRecord } from '../collection/write.ts';
import { refuseWithoutScope } from '../middleware/authentication.ts';
import { once, requestFingerprint } from '../middleware/idempotency.ts';
import { scopeForRecordsOf } from '../oauth/scopes.ts';
import { invalidParameter } from '../problem.ts';
import type { Route } from '../router.ts';
import { recordsName } from '../schemas/custom-objects.ts';
import { resources } from '../schemas/index.ts';
import { type Job, jobOperations, jobs } from '../schemas/jobs.ts';
import { firstVersion } from '../schemas/record.ts';
import { arrangeRecord } from '../schemas/resource.ts';
import type { Env, Service } from '../service.ts';
import { countExported } from './export.ts';
import { JobQueue } from './queue.ts';
import { parseRange, resultLines } from './results.ts';
import { receiveLines, type Upload } from './upload.ts';
import { jobWorker } from './worker.ts';

/** Bulk work in the background. Jobs a restart has interrupted go on at once. */
export function jobRoutes(service: Service): Route[] {
	const { store } = service;
	const queue = new JobQueue(service);
	const wake = jobWorker(store, queue);
	const path = `/v1/${jobs.name}`;
	store.jobItems.dropOrphans();
	wake();

	const submit: Route['handler'] = async (c) => {
		const order = orderOf(service, c);
		refuseWithoutScope(c, scopeForRecordsOf(order));
		const id = service.newId(jobs.idPrefix, service.now());
		store.jobResults.dropExpired(new Date(service.now()).toISOString());
		try {
			const upload = await uploadOf(c, order, id);
			const url = new URL(c.req.url);
			const fingerprint = requestFingerprint('POST', url, upload.digest, c.get('caller')!);
			const answer = once(service, { key: c.req.header('Idempotency-Key'), fingerprint }, () => {
				const job = newJob(service, c, { ...order, id, total: upload.lines });
				store.table(jobs.name)!.save(job);
				return recordAnswer(202, job, { Location: `${path}/${id}` });
			});
			return toResponse(may(c, 'read', jobs.name) ? answer : withoutReading(answer));
		} finally {
			// What a refused or a repeated request has sent belongs to no job.
			if (store.isOpen && !store.table(jobs.name)!.find(id)) store.jobItems.drop(id);
			wake();
		}
	};

	const cancel: Route['handler'] = (c) => {
		queryOf(c, []);
		return answerWrite(service, jobs, c, false, () => recordAnswer(200, queue.cancel(jobOf(c))));
	};

	const results: Route['handler'] = (c) => {
		const range = parseRange(queryOf(c, ['offset', 'limit']));
		const job = jobOf(c);
		refuseWithoutScope(c, scopeForRecordsOf(job));
		const lines = resultLines(service, job, range, may(c, 'read', job.resource));
		return c.body(lines, 200, { 'Content-Type': 'application/x-ndjson' });
	};

	const jobOf = (c: Context<Env>) =>
		existingRecord(c.get('store'), jobs, c.req.param('id')!) as Job;

	return [
		...collectionRoutes(service, jobs).filter(({ method }) => method === 'GET'),
		{ method: 'POST', path, handler: submit },
		{ method: 'POST', path: `${path}/:id/cancel`, handler: cancel },
		{ method: 'GET', path: `${path}/:id/results`, handler: results },
	];
}

/** What is asked for, in the query: the body is for the lines. */
type Order = Pick<Job, 'resource' | 'operation' | 'match_on' | 'query'>;

const ownParameters = ['resource', 'operation', 'match_on'];

/** All other parameters of an export are those of the list that it exports. */
function orderOf({ store }: Service, c: Context): Order {
	const given = singleValues(c);
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
	if (matchOn !== null) refuseOtherMatchOn(store, resource, matchOn);
	const query = operation === 'export' ? Object.fromEntries(others) : null;
	return { resource: resource.name, operation, match_on: matchOn, query };
}

async function uploadOf(c: Context<Env>, order: Order, id: string): Promise<Upload> {
	const store = c.get('store');
	if (order.operation === 'export') {
		return { lines: countExported(store, order), digest: new Uint8Array() };
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
	about: Order & Pick<Job, 'id' | 'total'>,
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
		...firstVersion(actor, at),
	}) as Job;
}
