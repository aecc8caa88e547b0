import { resourceNamed } from '../collection/custom-objects.ts';
import { filterFinder } from '../collection/custom-fields.ts';
import { answered, placeOf } from '../collection/list.ts';
import { parseListQuery } from '../collection/list-query.ts';
import { unknownParameter } from '../collection/query.ts';
import { Problem } from '../problem.ts';
import type { Job } from '../schemas/jobs.ts';
import type { Cell } from '../store/columns.ts';
import type { Store } from '../store/store.ts';

const recordsPerStep = 500;

/** What is exported: the records of a list, with its filters, in its order. */
type Export = Pick<Job, 'resource' | 'query'>;

/**
 * How many records an export has now.
 *
 * @throws Problem invalid_parameter, unknown_parameter, if a list would refuse the query
 */
export function countExported(store: Store, about: Export): number {
	const { table, query } = exportedList(store, about);
	return table.count(query.conditions, query.includeDeleted);
}

/**
 * Keeps the next records of an export as its results.
 *
 * @returns how many there were, and whether there are more
 */
export function exportSome(store: Store, job: Job): { count: number; isLast: boolean } {
	const { table, query } = exportedList(store, job);
	// An export has no lines to do. In their stead stands the place of the record exported last.
	const [last] = store.jobItems.take(job.id, 1);
	const after = last && (JSON.parse(last.text) as Cell[]);
	const documents = table.page({ ...query, after, limit: recordsPerStep });
	for (const [i, document] of documents.entries()) {
		store.jobResults.add(job.id, { position: job.processed + i, text: answered(document, query) });
	}
	const isLast = documents.length < recordsPerStep;
	if (!isLast) {
		const text = JSON.stringify(placeOf(documents.at(-1)!, table, query));
		store.jobItems.add(job.id, { position: 0, text });
	}
	return { count: documents.length, isLast };
}

function exportedList(store: Store, { resource: name, query: asked }: Export) {
	const given = new Map(Object.entries(asked ?? {}));
	const ofPages = ['cursor', 'limit'].find((parameter) => given.has(parameter));
	if (ofPages !== undefined) throw unknownParameter(ofPages);
	const resource = resourceNamed(store, name);
	const table = store.table(name);
	if (!resource || !table) throw new Problem('not_found', `There is no resource ${name} any more.`);
	return { table, query: parseListQuery(resource, given, filterFinder(store, resource), store.accountKey) };
}
