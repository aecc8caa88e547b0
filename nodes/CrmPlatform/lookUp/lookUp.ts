import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { wholePath, type Query, filledPath, type Collection, encodedPath } from '../api/http/path';
import { breaksRule } from '../api/http/rules';
import { refusedFilterValue } from '../api/http/statuses';
import { inParallel, parallelReads } from '../api/inParallel';
import { DividedValue, filterQuery } from '../api/lists/filterQuery';
import { readPages, readPage } from '../api/lists/pages';
import { readAll } from '../api/lists/parallel';
import type { ListDescription } from '../api/openapi/listing';
import { findRecord } from '../api/record';
import { isAnsweredWith } from '../api/refusals';
import { idText } from '../base/json';
import { chunks } from '../base/lists';
import { getOrCreate, onceFor } from '../base/maps';
import { type Field, idField } from '../fields/field';
import { isWellFormed, notWellFormed, valueShape } from '../fields/fieldKinds';
import { matchKey, valueIn, type ComparedField } from '../fields/keys';
import { trimmed } from '../values/foldedText';

/** A list in which records are looked up. */
export interface RecordList {
	api: Connection;
	path: Collection;
	list: ListDescription;
	/** The filters of the list, filters on custom fields included. */
	filters: Field[];
	/** Names of the fields to read. */
	fields: string[];
}

export interface IdentifiedRecord extends IDataObject {
	id: string;
}

/** The query with the names of the fields to return, if the list accepts them. */
export function withFields(list: ListDescription, query: Query, fields: string[]): Query {
	if (list.fields === undefined) return query;
	return { ...query, [list.fields]: [...new Set(['id', ...fields])] };
}

/** The records with their ids as text: a service may write the same id as a number and as text. */
export const identified = (records: IDataObject[]): IdentifiedRecord[] =>
	records.map((record) => (typeof record.id === 'string' ? (record as IdentifiedRecord) : { ...record, id: String(record.id) }));

/** The minimum number of requests for which the length of the list is asked. */
const fewRequests = 5;

/** All records of a list if reading it takes fewer requests than looking up some of its records; undefined otherwise. */
export async function wholeListIfShort(
	api: Connection,
	{ path, list, fields }: Pick<RecordList, 'path' | 'list' | 'fields'>,
	requests: number,
	scopeQuery: Query = {},
): Promise<IdentifiedRecord[] | undefined> {
	if (!list.pageSize || requests < fewRequests) return undefined;
	const { name, maximum } = list.pageSize;
	const { total = Infinity } = await readPage(api.send, path, { list, query: withFields(list, { ...scopeQuery, [name]: 1 }, []) });
	return total / maximum >= requests ? undefined : await readWholeList({ api, path, list, fields }, scopeQuery);
}

/** The filter by which a list also returns deleted records, if it has one. */
export const includingDeleted = (list: ListDescription | undefined): Query => (list?.deleted ? { [list.deleted.parameter]: true } : {});

export const isDeletedIn = ({ deleted }: ListDescription, record: IDataObject): boolean => (record[deleted?.field ?? ''] ?? null) !== null;

/** All records that match the filters, each once: while pages shift, one may be returned twice and another omitted. */
export async function readWholeList({ api, path, list, fields }: Omit<RecordList, 'filters'>, scopeQuery: Query): Promise<IdentifiedRecord[]> {
	const query = withFields(list, scopeQuery, [...fields, ...(list.created ? [list.created.field] : [])]);
	const records = await readAll(api.send, { path, list, query, cursors: parallelReads }, (record) => record);
	return [...new Map(identified(records).map((record) => [record.id, record])).values()];
}

/** The longest list that helps a person. */
const maxShown = 1_000;

/** The first records of a list that cannot be searched, such as `/pipelines`. */
export async function firstRecords(api: Connection, path: Collection, limit = maxShown): Promise<IDataObject[]> {
	const list = (await api.describe(path))?.list;
	if (!list) return [];
	const records: IDataObject[] = [];
	for await (const page of readPages(api.send, { path, list, query: {}, limit })) {
		records.push(...page.records);
	}
	return records;
}

/**
 * The paths of the collections of a record type: records of each custom object are one.
 *
 * @returns undefined if the CRM does not list its custom objects
 */
export async function collectionPathsOf(api: Connection, { path }: Pick<RecordList, 'path'>): Promise<Collection[] | undefined> {
	if (!path.includes('{')) return [path];
	const parents = path.replace(/\/\{.*$/s, '') as Collection;
	if (!(await api.describe(parents))?.list) return undefined;
	const objects = await firstRecords(api, parents, Infinity);
	return objects.map(({ key }) => filledPath(path, () => String(key)));
}

export type LookUpResult<Found = IdentifiedRecord> =
	| { found: Found }
	| { several: Found[] }
	| { notFound: true }
	/** The service has no filter for the field, does not respond, or returns other records. */
	| { failed: Error }
	/** The service does not accept this value in the filter, or the value cannot be sent. */
	| { refused: Error };

export function foundAmong<Found>(all: Found[]): LookUpResult<Found> {
	if (all.length === 0) return { notFound: true };
	return all.length === 1 ? { found: all[0]! } : { several: all };
}

export const foundIn = <Found>(result: LookUpResult<Found>): Found[] =>
	('several' in result ? result.several : 'found' in result ? [result.found] : []);

/** The result for a looked-up value, or one that the service considers equal. */
export type LookedUp = (value: unknown) => LookUpResult;

/** Maximum ids in one request, which limits the length of the URL. */
export const maxIds = 100;
/** Maximum values of another filter in one request. */
const maxValues = 50;

/** After this many values that are refused alone, and no accepted one, the filter itself counts as refused. */
const maxRefused = 10;

const filterFor = ({ filters }: Pick<RecordList, 'filters'>, { name }: Pick<Field, 'name'>): Field | undefined =>
	filters.find((filter) => filter.name === (name === 'id' ? 'ids' : name));

/** How many values of a field one request can look up; 0 if the list has no filter for the field. */
export function valuesPerRequest(recordList: Pick<RecordList, 'filters'>, field: Pick<Field, 'name'>): number {
	const filter = filterFor(recordList, field);
	if (!filter || valueShape(filter) !== 'list') return filter ? 1 : 0;
	return field.name === 'id' ? maxIds : maxValues;
}

/**
 * Looks records up by values of a field. To isolate a value that the service refuses, the request is divided
 * until that value is alone.
 *
 * @throws NodeApiError if the service fails for every value
 * @throws Error in the user's words if it returns records that do not match the filter
 */
export async function lookUp(recordList: RecordList, field: ComparedField, values: unknown[], scopeQuery: Query = {}): Promise<LookedUp> {
	const { textsByKey, results } = textsToFind(recordList, field, values);
	let requests = chunks([...textsByKey], Math.max(1, valuesPerRequest(recordList, field)));
	let hasAccepted = false;
	let refusals = 0;
	while (requests.length > 0 && (hasAccepted || refusals < maxRefused)) {
		// One after the other until the service accepts a value: then it is certain that it refuses values, and not the filter.
		const round = requests.splice(0, hasAccepted ? requests.length : 1);
		const answers = await inParallel(round, async (sought) => await readMatches(recordList, field, sought, scopeQuery).catch(failureOfValue));
		const halves: Sought[][] = [];
		for (const [i, answer] of answers.entries()) {
			const sought = round[i]!;
			if (answer instanceof Map) {
				hasAccepted = true;
				for (const [key, records] of answer) results.set(key, foundAmong([...records.values()]));
			} else if (sought.length > 1) {
				halves.push(...chunks(sought, Math.ceil(sought.length / 2)));
			} else {
				if ('refused' in answer) refusals += 1;
				results.set(sought[0]![0], answer);
			}
		}
		// The other halves come last: a request for other values may be accepted sooner.
		requests = [...halves.slice(0, 1), ...requests, ...halves.slice(1)];
	}
	return (value) => {
		const key = matchKey(field, value);
		if (key === undefined) return { notFound: true };
		const isFilterRefused = !hasAccepted && refusals >= maxRefused;
		const result = isFilterRefused ? undefined : results.get(key);
		return result ?? { failed: new Error(`The CRM cannot find records of ${wholePath(recordList.path)} by ${field.name}.`) };
	};
}

/** A key, and the texts by which to look for it. A service that does not normalize or trim stores the text as written. */
type Sought = [key: string, texts: Set<string>];

/** What to look for; and the results of the keys whose value cannot be sent. */
function textsToFind(recordList: RecordList, field: ComparedField, values: unknown[]) {
	const textsByKey = new Map<string, Set<string>>();
	const results = new Map<string, LookUpResult>();
	const isFilterable = filterFor(recordList, field) !== undefined;
	for (const value of values) {
		const key = matchKey(field, value);
		if (key === undefined) continue;
		const text = String(value);
		if (!isWellFormed(text)) results.set(key, { refused: new Error(notWellFormed(text)) });
		else if (isFilterable) getOrCreate(textsByKey, key, () => new Set<string>()).add(text).add(trimmed(text.normalize('NFC')));
	}
	return { textsByKey, results };
}

/** The records with the values of some keys, by key and id. */
async function readMatches(
	{ api, path, list, fields, filters }: RecordList, field: ComparedField, sought: Sought[], scopeQuery: Query,
): Promise<Map<string, Map<string, IdentifiedRecord>>> {
	const filter = filterFor({ filters }, field)!;
	const matches = new Map(sought.map(([key]) => [key, new Map<string, IdentifiedRecord>()]));
	const texts = sought.flatMap(([, each]) => [...each]);
	for (const filterValue of valueShape(filter) === 'list' ? [texts] : texts) {
		const query = withFields(list, { ...scopeQuery, ...filterQuery(filter, filterValue) } as Query, [...fields, field.path[0] ?? '']);
		for await (const { records } of readPages(api.send, { path, list, query })) {
			for (const record of identified(records)) {
				const ofKey = matches.get(matchKey(field, valueIn(record, field)) ?? '');
				if (!ofKey) throw new Error(ignored(field.name, path));
				ofKey.set(record.id, record);
			}
		}
	}
	return matches;
}

/** The result for a value whose request failed because of it. @throws errors that would affect other values, too */
export function failureOfValue(error: Error): { refused: Error } | { failed: Error } {
	if (error instanceof DividedValue) return { failed: error };
	if (isAnsweredWith(error, ...refusedFilterValue)) return { refused: error };
	throw error;
}

const ignored = (name: string, path: string) =>
	`The CRM returned records of ${wholePath(path)} that do not match the filter ${name}, so the node cannot use it. ${breaksRule(11)} Use another field, and report this to the CRM’s support.`;

/** Reads records by their ids: with one request for each if the service cannot filter by id. */
export async function recordsById(
	api: Connection,
	{ path, list, fields }: { path: Collection; list: ListDescription | undefined; fields: string[] },
	ids: string[],
	scopeQuery: Query = {},
): Promise<Map<string, IdentifiedRecord>> {
	const found = new Map<string, IdentifiedRecord>();
	const readAlone = async (id: string) => {
		const record = await findRecord(api, path + encodedPath`/${id}`);
		if (record && idText(record.id) === id) found.set(id, { ...record, id });
	};
	if (!list || valuesPerRequest(list, idField) <= 1) {
		await inParallel(ids, readAlone);
		return found;
	}
	const idSet = new Set(ids);
	const allRecords = await wholeListIfShort(api, { path, list, fields }, Math.ceil(idSet.size / maxIds), scopeQuery);
	for (const record of allRecords ?? []) if (idSet.has(record.id)) found.set(record.id, record);
	for (const chunk of allRecords ? [] : chunks(ids, maxIds * 10)) {
		const lookedUp = await lookUp({ api, path, list, filters: list.filters, fields }, idField, chunk, scopeQuery);
		const unclear: string[] = [];
		for (const id of chunk) {
			const result = lookedUp(id);
			if ('found' in result) found.set(id, result.found);
			else if (!('notFound' in result)) unclear.push(id);
		}
		await inParallel(unclear, readAlone);
	}
	return found;
}

const lookedUpIds = onceFor<Connection, Map<string, boolean | undefined>>(() => new Map());

/** Looks IDs up, a hundred a request. @returns whether records have them; undefined for IDs that cannot be looked up */
export async function lookUpIds(api: Connection, collection: Collection, ids: string[]): Promise<ReadonlyMap<string, boolean | undefined>> {
	const idExists = lookedUpIds(api, collection);
	const unreadIds = ids.filter((id) => !idExists.has(id));
	const list = unreadIds.length > 0 ? (await api.describe(collection))?.list : undefined;
	const recordList = list && { api, path: collection, list, filters: list.filters, fields: [] };
	const resultOf = recordList && (await lookUp(recordList, idField, unreadIds).catch(() => undefined));
	for (const id of unreadIds) {
		const result = resultOf?.(id);
		idExists.set(id, !result || 'failed' in result ? undefined : foundIn(result).length > 0);
	}
	return idExists;
}
