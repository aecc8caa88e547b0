import { resourceNamed } from '../collection/custom-objects.ts';
import { type Bulk, type ItemResult, resultJson, writeItem } from '../collection/items.ts';
import type { Writing } from '../collection/writing.ts';
import { Problem } from '../problem.ts';
import type { Job } from '../schemas/jobs.ts';
import type { Service } from '../service.ts';
import type { Line } from '../store/job-lines.ts';
import type { Part } from '../store/transactions.ts';
import { exportSome } from './export.ts';

/** As many as a batch has, so that requests need not wait long for the step of a job. */
const linesPerStep = 100;

export interface Step {
	progress: Pick<Job, 'total' | 'processed' | 'succeeded' | 'failed'>;
	isLast: boolean;
}

/**
 * Does the next lines of a job and keeps their results. It sees what the caller who asked for the job
 * sees now. Call it in a transaction.
 */
export function someMore(service: Service, job: Job): Step {
	const seen = { ...service, store: service.store.seenBy(job.created_by) };
	return job.operation === 'export' ? readSome(seen, job) : writeSome(seen, job);
}

function writeSome(service: Service, job: Job): Step {
	const { store } = service;
	const resource = resourceNamed(store, job.resource);
	if (!resource) throw new Problem('not_found', `There is no resource ${job.resource} any more.`);
	const { created_by: actor, request } = job;
	const writing = { ...service, resource, actor, request, now: service.now() };
	const bulk = { operation: job.operation, matchOn: job.match_on ?? undefined } as Bulk;
	const lines = store.jobItems.take(job.id, linesPerStep);
	const results = store.transactionOfParts((part) =>
		lines.map((line) => writeLine(writing, part, bulk, line, request.id)),
	);
	for (const [i, result] of results.entries()) {
		store.jobResults.add(job.id, { position: job.processed + i, text: resultJson(result) });
	}
	const failed = results.filter(({ error }) => error).length;
	const processed = job.processed + lines.length;
	return {
		progress: {
			total: job.total,
			processed,
			succeeded: job.succeeded + lines.length - failed,
			failed: job.failed + failed,
		},
		isLast: processed === job.total,
	};
}

function writeLine(
	writing: Writing,
	part: Part,
	bulk: Bulk,
	line: Line,
	requestId: string,
): ItemResult {
	let item: unknown;
	try {
		item = JSON.parse(line.text);
	} catch (error) {
		const detail = `The line cannot be read: ${(error as Error).message}.`;
		const problem = new Problem('malformed_json', detail);
		const { status } = problem;
		return { index: line.position, status, id: null, error: problem.body(requestId) };
	}
	return writeItem(writing, part, bulk, item, line.position, requestId);
}

function readSome({ store }: Service, job: Job): Step {
	const { count, isLast } = exportSome(store, job);
	const processed = job.processed + count;
	const total = isLast ? processed : Math.max(job.total, processed);
	return { progress: { total, processed, succeeded: processed, failed: 0 }, isLast };
}
