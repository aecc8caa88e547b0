import { resourceNamed } from '../collection/custom-objects.ts';
import { type Bulk, type ItemResult, resultJson, writeItem } from '../records/batch-items.ts';
import type { Writing } from '../store/writing.ts';
import { Problem } from '../foundation/problem.ts';
import type { Job } from '../schemas/jobs.ts';
import type { Service } from '../http/service.ts';
import type { Line } from '../store/job-lines.ts';
import type { Part } from '../store/transactions.ts';
import { type Exported, readNextRecords, storeRecords } from './export.ts';
import { storeSeenBy, type StoreView } from '../store/visible-store.ts';

/** As large as a batch, so that requests do not wait long for a step of a job. */
const linesPerStep = 100;

export interface JobStep {
	progress: Pick<Job, 'total' | 'processed' | 'succeeded' | 'failed'>;
	isLast: boolean;
}

/** Reads what the next step of a job stores, before its transaction; undefined if that is nothing. */
export async function readForStep({ store }: Service, job: Job): Promise<Exported | undefined> {
	if (job.operation !== 'export') return undefined;
	return await readNextRecords(storeSeenBy(store, job.created_by), job);
}

/**
 * Processes the next lines of a job and stores their results, with the visibility that the job's
 * creator has now. Call it in a transaction.
 */
export function runJobStep(service: Service, job: Job, exported: Exported | undefined): JobStep {
	const store = storeSeenBy(service.store, job.created_by);
	return exported ? storeSome(store, job, exported) : writeSome(service, store, job);
}

function writeSome(service: Service, store: StoreView, job: Job): JobStep {
	const { jobItems, jobResults } = service.store;
	const resource = resourceNamed(store, job.resource);
	if (!resource) throw new Problem('not_found', `The resource ${job.resource} no longer exists.`);
	const { created_by: actor, request } = job;
	const writing = { ...service, store, resource, actor, request, now: service.now() };
	const bulk = { operation: job.operation, matchOn: job.match_on ?? undefined } as Bulk;
	const lines = jobItems.take(job.id, linesPerStep);
	const results = service.store.transactionOfParts((part) =>
		lines.map((line) => writeLine(writing, part, bulk, line, request.id)),
	);
	for (const [i, result] of results.entries()) {
		jobResults.add(job.id, { position: job.processed + i, text: resultJson(result) });
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
		const detail = `The line is not valid JSON: ${(error as Error).message}.`;
		const problem = new Problem('malformed_json', detail);
		const { status } = problem;
		return { index: line.position, status, id: null, error: problem.body(requestId) };
	}
	return writeItem(writing, part, bulk, item, line.position, requestId);
}

function storeSome(store: StoreView, job: Job, exported: Exported): JobStep {
	const { count, isLast } = storeRecords(store, job, exported);
	const processed = job.processed + count;
	const total = isLast ? processed : Math.max(job.total, processed);
	return { progress: { total, processed, succeeded: processed, failed: 0 }, isLast };
}
