import { type Bulk, type ItemResult, resultJson, writeItem } from '../../domain/records/batch-items.ts';
import { existingTable } from '../../domain/records/write.ts';
import { parseText } from '../http/body.ts';
import type { WriteContext } from '../../core/store/write-context.ts';
import { Problem } from '../../core/foundation/problem.ts';
import type { Job } from '../../core/schemas/jobs.ts';
import type { Service } from '../../core/service.ts';
import type { Line } from '../../core/store/job-lines.ts';
import type { Part } from '../../core/store/transactions.ts';
import { type Exported, readNextRecords, storeRecords } from './export.ts';
import { authorityOf, NoRights, type Rights, rightsOf, untilUsersChange } from '../../domain/access/authority.ts';
import { scopeForRecordsOf } from '../../domain/access/scopes.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';

/** Maximum number of lines per step. A step also ends when its piece of background work does. */
const linesPerStep = 100;

interface JobStep {
	progress: Pick<Job, 'total' | 'processed' | 'succeeded' | 'failed'>;
	isLast: boolean;
	/** Why the job cannot continue, if its creator may no longer do this. */
	stopReason?: string | undefined;
}

/** Reads what the next step of a job will store, before its transaction; undefined if it stores no records. */
export async function readForStep(service: Service, job: Job): Promise<Exported | undefined> {
	if (job.operation !== 'export') return undefined;
	const rights = rightsFor(service, job);
	return rights instanceof NoRights ? undefined : await readNextRecords(rights.store, job);
}

const rightsFor = ({ store }: Service, job: Job): Rights | NoRights =>
	rightsOf(store, authorityOf(store, job), scopeForRecordsOf(job), 'jobs:write');

/**
 * Processes the next lines of a job and stores their results, with the rights that the job's creator has
 * at each line. Call it in a transaction.
 */
export function runJobStep(service: Service, job: Job, part: Part, exported: Exported | undefined): JobStep {
	if (job.operation !== 'export') return writeSome(service, () => rightsFor(service, job), job, part);
	const rights = rightsFor(service, job);
	if (rights instanceof NoRights) return { progress: progressOf(job), isLast: false, stopReason: rights.reason };
	return exported ? storeSome(rights.store, job, exported) : { progress: progressOf(job), isLast: false };
}

const progressOf = ({ total, processed, succeeded, failed }: Job): JobStep['progress'] => ({
	total,
	processed,
	succeeded,
	failed,
});

function writeSome(service: Service, rightsNow: () => Rights | NoRights, job: Job, part: Part): JobStep {
	const { jobLines, jobResults } = service.store;
	const { resource } = existingTable(service.store, job.resource);
	const { created_by: actor, request } = job;
	const context = { ...service, resource, actor, request, now: service.now() };
	const bulk = { operation: job.operation, matchOn: job.match_on ?? undefined } as Bulk;
	const rightsOfLine = untilUsersChange(service.store, rightsNow);
	const results: ItemResult[] = [];
	const end = service.background.endOfPiece();
	for (const line of jobLines.first(job.id, linesPerStep)) {
		const rights = rightsOfLine();
		if (rights instanceof NoRights || (results.length > 0 && performance.now() > end)) break;
		results.push(writeLine({ ...context, store: rights.store }, part, bulk, line, request.id));
	}
	jobLines.dropUntil(job.id, results.at(-1)?.index ?? -1);
	for (const [i, result] of results.entries()) {
		jobResults.add(job.id, { position: job.processed + i, text: resultJson(result) });
	}
	const failed = results.filter(({ error }) => error).length;
	const processed = job.processed + results.length;
	const isLast = processed === job.total;
	const rights = rightsOfLine();
	return {
		progress: {
			total: job.total,
			processed,
			succeeded: job.succeeded + results.length - failed,
			failed: job.failed + failed,
		},
		isLast,
		stopReason: rights instanceof NoRights && !isLast ? rights.reason : undefined,
	};
}

function writeLine(context: WriteContext, part: Part, bulk: Bulk, line: Line, requestId: string): ItemResult {
	let item: unknown;
	try {
		item = parseText('The line', line.text);
	} catch (error) {
		if (!(error instanceof Problem)) throw error;
		return { index: line.position, status: error.status, id: null, error: error.body(requestId) };
	}
	return writeItem(() => context, part, bulk, item, line.position, requestId);
}

function storeSome(store: StoreView, job: Job, exported: Exported): JobStep {
	const { count, isLast } = storeRecords(store, job, exported);
	const processed = job.processed + count;
	const total = isLast ? processed : Math.max(job.total, processed);
	return { progress: { total, processed, succeeded: processed, failed: 0 }, isLast };
}
