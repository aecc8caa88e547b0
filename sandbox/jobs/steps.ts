import { type Bulk, type ItemResult, resultJson, writeItem } from '../collection/items.ts';
import type { Writing } from '../collection/writing.ts';
import { Problem } from '../problem.ts';
import { resources } from '../schemas/index.ts';
import type { Job } from '../schemas/jobs.ts';
import type { StoredRecord } from '../schemas/resource.ts';
import type { Service } from '../service.ts';
import type { Line } from '../store/job-lines.ts';
import type { Part } from '../store/transactions.ts';

/** As many as a batch has, so that requests need not wait long for the step of a job. */
const linesPerStep = 100;
const recordsPerStep = 500;

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
	return job.operation === 'export' ? exportSome(seen, job) : writeSome(seen, job);
}

function writeSome(service: Service, job: Job): Step {
	const { store } = service;
	const resource = resources.find(({ name }) => name === job.resource)!;
	const writing = { ...service, resource, actor: job.created_by, now: service.now() };
	const bulk = { operation: job.operation, matchOn: job.match_on ?? undefined } as Bulk;
	const lines = store.jobItems.take(job.id, linesPerStep);
	const results = store.transactionOfParts((part) =>
		lines.map((line) => writeLine(writing, part, bulk, line, job.request_id)),
	);
	for (const result of results) {
		store.jobResults.add(job.id, { position: result.index, text: resultJson(result) });
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

/** Goes on after the record exported last; records made meanwhile come later in the order of ids. */
function exportSome({ store }: Service, job: Job): Step {
	const last = store.jobResults.last(job.id);
	const records = store.table(job.resource)!.page({
		conditions: [],
		order: [{ column: 'id', descending: false }],
		after: last && [(JSON.parse(last.text) as StoredRecord).id],
		includeDeleted: false,
		limit: recordsPerStep,
	});
	for (const [i, text] of records.entries()) {
		store.jobResults.add(job.id, { position: job.processed + i, text });
	}
	const processed = job.processed + records.length;
	const isLast = records.length < recordsPerStep;
	const total = isLast ? processed : Math.max(job.total, processed);
	return { progress: { total, processed, succeeded: processed, failed: 0 }, isLast };
}
