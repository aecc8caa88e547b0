import { filterFinder } from '../../domain/queries/custom-field-filters.ts';
import { listedRecord } from '../../domain/queries/read-list.ts';
import { parseListQuery } from '../../domain/queries/list-query.ts';
import { existingTable } from '../../domain/records/write.ts';
import { unknownParameter } from '../../core/foundation/problem.ts';
import type { Job } from '../../core/schemas/jobs.ts';
import { idOfJson } from '../../core/store/records/record-json.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';

/** The number of records that fit one piece of background work. */
const recordsPerStep = 100;

/** The list that a job exports, with its filters and its order. */
type ExportedList = Pick<Job, 'resource' | 'query'>;

/**
 * Counts the records that an export would contain now.
 *
 * @throws Problem invalid_parameter, unknown_parameter, if a list would refuse the query
 */
export async function countExportedRecords(store: StoreView, list: ExportedList): Promise<number> {
	const { table, query } = exportedList(store, list);
	return await table.countInBackground(query.conditions, query.includeDeleted);
}

/** What the next step of an export stores, read before its transaction. */
export interface Exported {
	records: Array<{ id: string; text: string }>;
	/** The ids of the records that follow, as JSON lists: at first those of all records, later the rest of one list. */
	nextIds: string[];
}

/**
 * Reads the next records of an export without blocking requests, since few of many records may match. The
 * first step reads the ids of all records in their order, so that they are sorted only once.
 */
export async function readNextRecords(store: StoreView, job: Job): Promise<Exported> {
	const { table, query } = exportedList(store, job);
	const selection = { ...query, limit: recordsPerStep };
	if (job.started_at === null) return { records: [], nextIds: await table.idsInOrder(selection) };
	const [next] = store.unrestricted.jobLines.first(job.id, 1);
	if (!next) return { records: [], nextIds: [] };
	const { documents, hasMore } = await table.recordsOf(next.text, selection);
	const records = documents.map((document) => ({ id: idOfJson(document), text: listedRecord(document, query) }));
	const ids = JSON.parse(next.text) as string[];
	const rest = hasMore ? ids.slice(ids.indexOf(records.at(-1)!.id) + 1) : [];
	return { records, nextIds: rest.length > 0 ? [JSON.stringify(rest)] : [] };
}

/**
 * Stores the next records of an export as its results, without those that became invisible while they
 * were read.
 *
 * @returns how many records were stored, and whether they were the last
 */
export function storeRecords(
	store: StoreView,
	job: Job,
	{ records, nextIds }: Exported,
): { count: number; isLast: boolean } {
	const { jobLines, jobResults } = store.unrestricted;
	const { table } = exportedList(store, job);
	const visibleIds = table.visibleAmong(records.map(({ id }) => id));
	const visibleRecords = records.filter(({ id }) => visibleIds.has(id));
	for (const [i, { text }] of visibleRecords.entries()) {
		jobResults.add(job.id, { position: job.processed + i, text });
	}
	const [done] = jobLines.first(job.id, 1);
	if (done) jobLines.dropUntil(job.id, done.position);
	const first = done?.position ?? 0;
	for (const [i, text] of nextIds.entries()) jobLines.add(job.id, { position: first + i, text });
	return { count: visibleRecords.length, isLast: jobLines.last(job.id) === undefined };
}

function exportedList(store: StoreView, { resource: name, query: rawQuery }: ExportedList) {
	const queryTexts = new Map(Object.entries(rawQuery ?? {}));
	const pagingParameter = ['cursor', 'limit'].find((parameter) => queryTexts.has(parameter));
	if (pagingParameter !== undefined) throw unknownParameter(pagingParameter);
	const table = existingTable(store, name);
	const findFilter = filterFinder(store, table.resource);
	return { table, query: parseListQuery(table.resource, queryTexts, findFilter, store.unrestricted.accountKey) };
}
