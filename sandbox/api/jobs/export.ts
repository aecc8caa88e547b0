import { filterFinder } from '../../domain/queries/custom-field-filters.ts';
import { listedRecord, parseListQuery } from '../../domain/queries/list-query.ts';
import { existingTable } from '../../domain/records/write.ts';
import { unknownParameter } from '../../core/foundation/problem.ts';
import type { Job } from '../../core/schemas/jobs.ts';
import type { Cell } from '../../core/store/records/columns.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';

/** The number of records that are stored in one step. */
const recordsPerStep = 100;

/** The list that a job exports, with its filters and its order. */
type ExportedList = Pick<Job, 'resource' | 'query'>;

/**
 * Counts the records that an export would contain now.
 *
 * @throws Problem invalid_parameter, unknown_parameter, if a list would refuse the query
 */
export function countExportedRecords(store: StoreView, list: ExportedList): number {
	const { table, query } = exportedList(store, list);
	return table.count(query.conditions, query);
}

/**
 * Stores the next records of an export as its results, and where the following ones begin as its only line.
 *
 * @returns how many records were stored, and whether they were the last
 */
export function exportSome(store: StoreView, job: Job): { count: number; isLast: boolean } {
	const { jobLines, jobResults } = store.unrestricted;
	const { table, query } = exportedList(store, job);
	const [reached] = jobLines.page(job.id, -1, 1);
	const after = reached && (JSON.parse(reached.text) as Cell[]);
	const { documents, end } = table.list({ ...query, after, limit: recordsPerStep });
	for (const [i, document] of documents.entries()) {
		jobResults.add(job.id, { position: job.processed + i, text: listedRecord(document, query) });
	}
	jobLines.drop(job.id);
	if (end) jobLines.add(job.id, { position: 0, text: JSON.stringify(end) });
	return { count: documents.length, isLast: !end };
}

function exportedList(store: StoreView, { resource: name, query: rawQuery }: ExportedList) {
	const queryTexts = new Map(Object.entries(rawQuery ?? {}));
	const pagingParameter = ['cursor', 'limit'].find((parameter) => queryTexts.has(parameter));
	if (pagingParameter !== undefined) throw unknownParameter(pagingParameter);
	const table = existingTable(store, name);
	const findFilter = filterFinder(store, table.resource);
	return { table, query: parseListQuery(table.resource, queryTexts, findFilter, store.unrestricted.accountKey) };
}
