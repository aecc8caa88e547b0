import { resourceNamed } from '../collection/custom-objects.ts';
import { filterFinder } from '../queries/custom-field-filters.ts';
import { listedRecord, keysetPosition } from '../queries/list.ts';
import { parseListQuery } from '../queries/list-query.ts';
import { unknownParameter } from '../http/query.ts';
import { Problem } from '../foundation/problem.ts';
import type { Job } from '../schemas/jobs.ts';
import type { Cell } from '../store/columns.ts';
import { parseRecord } from '../store/record-json.ts';
import type { StoreView } from '../store/visible-store.ts';

const recordsPerStep = 500;

/** The list that a job exports, with its filters and its order. */
type Export = Pick<Job, 'resource' | 'query'>;

/**
 * Counts the records that an export would contain now.
 *
 * @throws Problem invalid_parameter, unknown_parameter, if a list would refuse the query
 */
export async function countExportedRecords(store: StoreView, about: Export): Promise<number> {
	const { table, query } = exportedList(store, about);
	return await table.countAside(query.conditions, query.includeDeleted);
}

/** The next records of an export, read before the transaction that stores them as results. */
export interface Exported {
	records: Array<{ id: string; text: string }>;
	/** The position of the last record, to go on after; undefined at the end. */
	position: string | undefined;
}

/** Reads the next records of an export without blocking requests: few of many records may match. */
export async function readNextRecords(store: StoreView, job: Job): Promise<Exported> {
	const { table, query } = exportedList(store, job);
	// An export has no input lines. Their table holds its cursor, the position of the last record
	// exported.
	const [last] = store.whole.jobItems.page(job.id, -1, 1);
	const after = last && (JSON.parse(last.text) as Cell[]);
	const { documents, hasMore } = await table.nextPage({ ...query, after, limit: recordsPerStep });
	return {
		records: documents.map((document) => ({
			id: parseRecord(document).id,
			text: listedRecord(document, query),
		})),
		position: hasMore ? JSON.stringify(keysetPosition(documents.at(-1)!, table, query)) : undefined,
	};
}

/**
 * Stores the next records of an export as its results, without those that came out of sight while they
 * were read.
 *
 * @returns how many records were stored, and whether they were the last
 */
export function storeRecords(
	store: StoreView,
	job: Job,
	{ records, position }: Exported,
): { count: number; isLast: boolean } {
	const { jobItems, jobResults } = store.whole;
	const { table } = exportedList(store, job);
	const seen = table.visibleAmong(records.map(({ id }) => id));
	const kept = records.filter(({ id }) => seen.has(id));
	for (const [i, { text }] of kept.entries()) {
		jobResults.add(job.id, { position: job.processed + i, text });
	}
	jobItems.drop(job.id);
	if (position !== undefined) jobItems.add(job.id, { position: 0, text: position });
	return { count: kept.length, isLast: position === undefined };
}

function exportedList(store: StoreView, { resource: name, query: asked }: Export) {
	const given = new Map(Object.entries(asked ?? {}));
	const ofPages = ['cursor', 'limit'].find((parameter) => given.has(parameter));
	if (ofPages !== undefined) throw unknownParameter(ofPages);
	const resource = resourceNamed(store, name);
	const table = store.table(name);
	if (!resource || !table) throw new Problem('not_found', `The resource ${name} no longer exists.`);
	return { table, query: parseListQuery(resource, given, filterFinder(store, resource), store.whole.accountKey) };
}
