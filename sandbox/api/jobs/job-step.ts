import { type Bulk, type ItemResult, resultJson, writeItem } from '../../domain/records/batch-items.ts';
import { existingTable } from '../../domain/records/write.ts';
import type { ExportQuery } from './job-request.ts';
import { parseText } from '../http/body.ts';
import type { WriteContext } from '../../core/store/write-context.ts';
import { Problem, unknownParameter } from '../../core/foundation/problem.ts';
import type { Job } from '../../core/schemas/jobs.ts';
import type { Service } from '../../core/service.ts';
import type { Line } from '../../core/store/job-lines.ts';
import { authorityOf, NoRights, rightsOf } from '../../domain/access/authority.ts';
import { scopeForRecordsOf } from '../../domain/access/scopes.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';
import { filterFinder } from '../../domain/queries/custom-field-filters.ts';
import { listedRecord, parseListQuery } from '../../domain/queries/list-query.ts';
import type { Cell } from '../../core/store/records/columns.ts';

const linesPerStep = 100;

interface JobStep {
	progress: Pick<Job, 'total' | 'processed' | 'succeeded' | 'failed'>;
	isLast: boolean;
}

/**
 * Processes the next lines of a job and stores their results, with the rights that the job's creator has now. Call it
 * in a transaction.
 *
 * @returns why the job cannot continue, if its creator may no longer do this
 */
export function runJobStep(service: Service, job: Job): JobStep | NoRights {
	const rights = rightsOf(service.store, authorityOf(service.store, job), scopeForRecordsOf(job), 'jobs:write');
	if (rights instanceof NoRights) return rights;
	if (job.operation !== 'export') return writeSome(service, rights.store, job);
	const { count, isLast } = exportSome(rights.store, job);
	const processed = job.processed + count;
	const total = isLast ? processed : Math.max(job.total, processed);
	return { progress: { total, processed, succeeded: processed, failed: 0 }, isLast };
}

function writeSome(service: Service, store: StoreView, job: Job): JobStep {
	const { jobLines, jobResults } = service.store;
	const { resource } = existingTable(service.store, job.resource);
	const { created_by: actor, request } = job;
	const context = { ...service, store, resource, actor, request, now: service.now() };
	const bulk = { operation: job.operation, matchOn: job.match_on ?? undefined } as Bulk;
	const lines = jobLines.page(job.id, -1, linesPerStep);
	const results = lines.map((line) => writeLine(context, bulk, line, request.id));
	jobLines.dropUntil(job.id, results.at(-1)!.index);
	for (const [i, result] of results.entries()) {
		jobResults.add(job.id, { position: job.processed + i, text: resultJson(result) });
	}
	const failed = results.filter(({ error }) => error).length;
	const processed = job.processed + results.length;
	const succeeded = job.succeeded + results.length - failed;
	return { progress: { total: job.total, processed, succeeded, failed: job.failed + failed }, isLast: processed === job.total };
}

function writeLine(context: WriteContext, bulk: Bulk, line: Line, requestId: string): ItemResult {
	let item: unknown;
	try {
		item = parseText('The line', line.text);
	} catch (error) {
		if (!(error instanceof Problem)) throw error;
		return { index: line.position, status: error.status, id: null, error: error.body(requestId) };
	}
	return writeItem(context, bulk, item, line.position, requestId);
}

/** The number of records that are stored in one step. */
const recordsPerStep = 100;

/** What is left of an export: its query, and where its next records begin. */
interface ExportPosition {
	query: ExportQuery;
	after?: Cell[];
}

/** The only line of an export. It goes when the job ends: filters may name a person who is erased later. */
export const exportLine = (left: ExportPosition): Line => ({ position: 0, text: JSON.stringify(left) });

/**
 * Counts the records that an export would contain now.
 *
 * @throws Problem invalid_parameter, unknown_parameter, if a list would refuse the query
 */
export function countExportedRecords(store: StoreView, resource: string, exported: ExportQuery): number {
	const { table, query } = exportedList(store, resource, exported);
	return table.count(query.conditions, query);
}

/** Stores the next records of an export as its results. @returns how many, and whether they were the last */
function exportSome(store: StoreView, job: Job): { count: number; isLast: boolean } {
	const { jobLines, jobResults } = store.unrestricted;
	const left = JSON.parse(jobLines.page(job.id, -1, 1)[0]!.text) as ExportPosition;
	const { table, query } = exportedList(store, job.resource, left.query);
	const { documents, end } = table.list({ ...query, after: left.after, limit: recordsPerStep });
	for (const [i, document] of documents.entries()) {
		jobResults.add(job.id, { position: job.processed + i, text: listedRecord(document, query) });
	}
	jobLines.drop(job.id);
	if (end) jobLines.add(job.id, exportLine({ ...left, after: end }));
	return { count: documents.length, isLast: !end };
}

function exportedList(store: StoreView, name: string, exported: ExportQuery) {
	const queryTexts = new Map(Object.entries(exported));
	const pagingParameter = ['cursor', 'limit'].find((parameter) => queryTexts.has(parameter));
	if (pagingParameter !== undefined) throw unknownParameter(pagingParameter);
	const table = existingTable(store, name);
	const findFilter = filterFinder(store, table.resource);
	return { table, query: parseListQuery(table.resource, queryTexts, findFilter, store.unrestricted.accountKey) };
}
