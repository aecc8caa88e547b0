import { resourceNamed } from '../collection/custom-objects.ts';
import { filterFinder } from '../queries/custom-field-filters.ts';
import { listedRecord, keysetPosition } from '../queries/list.ts';
import { parseListQuery } from '../queries/list-query.ts';
import { unknownParameter } from '../http/query.ts';
import { Problem } from '../foundation/problem.ts';
import type { Job } from '../schemas/jobs.ts';
import type { Cell } from '../store/columns.ts';
import type { StoreView } from '../store/visible-store.ts';

const recordsPerStep = 500;

/** The list that a job exports, with its filters and its order. */
type Export = Pick<Job, 'resource' | 'query'>;

/**
 * Counts the records that an export would contain now.
 *
 * @throws Problem invalid_parameter, unknown_parameter, if a list would refuse the query
 */
export function countExportedRecords(store: StoreView, about: Export): number {
	const { table, query } = exportedList(store, about);
	return table.count(query.conditions, query.includeDeleted);
}

/**
 * Stores the next records of an export as its results.
 *
 * @returns how many records were stored, and whether they were the last
 */
export function exportNextRecords(store: StoreView, job: Job): { count: number; isLast: boolean } {
	const { table, query } = exportedList(store, job);
	// An export has no input lines. Their table holds its cursor, the position of the last record
	// exported.
	const [last] = store.whole.jobItems.take(job.id, 1);
	const after = last && (JSON.parse(last.text) as Cell[]);
	const documents = table.page({ ...query, after, limit: recordsPerStep });
	for (const [i, document] of documents.entries()) {
		store.whole.jobResults.add(job.id, { position: job.processed + i, text: listedRecord(document, query) });
	}
	const isLast = documents.length < recordsPerStep;
	if (!isLast) {
		const text = JSON.stringify(keysetPosition(documents.at(-1)!, table, query));
		store.whole.jobItems.add(job.id, { position: 0, text });
	}
	return { count: documents.length, isLast };
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
