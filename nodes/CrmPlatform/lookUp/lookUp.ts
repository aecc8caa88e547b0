import type { IDataObject } from 'n8n-workflow';

import { breaksRule } from '../api/http/rules';
import type { Connection } from '../api/connection';
import { findRecord, isAnsweredWith } from '../api/record';
import { idText } from '../base/json';
import { chunks } from '../base/lists';
import { getOrCreate, keptFor } from '../base/maps';
import { inParallel, parallelReads } from '../api/inParallel';
import { encodedPath, wholePath, type Collection, type Query } from '../api/http/path';
import { DividedValue, filterQuery } from '../api/lists/filterQuery';
import { readPage, readPages } from '../api/lists/pages';
import { readAll } from '../api/lists/parallel';
import type { ListDescription } from '../api/openapi/listing';
import { refusedFilterValue } from '../api/http/statuses';
import { isWellFormed, notWellFormed } from '../fields/conversions';
import { idField, type Field } from '../fields/field';
import { valueShape } from '../fields/fieldKinds';
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

export type LookUpOutcome<Found = IdentifiedRecord> =
	| { found: Found }
	| { several: Found[] }
	| { notFound: true }
	/** The service has no filter for the field, does not respond, or returns other records. */
	| { failed: Error }
	/** The service does not accept this value in the filter, or the value cannot be sent. */
	| { refused: Error };

/** The outcome of finding these for one value. */
export function foundAmong<Found>(all: Found[]): LookUpOutcome<Found> {
	if (all.length === 0) return { notFound: true };
	return all.length === 1 ? { found: all[0]! } : { several: all };
}

/** All that an outcome has found, one or several. */
export const foundIn = <Found>(outcome: LookUpOutcome<Found>): Found[] =>
	('several' in outcome ? outcome.several : 'found' in outcome ? [outcome.found] : []);

/** The outcome for a looked-up value, or one that the service considers equal. */
export type LookedUp = (value: unknown) => LookUpOutcome;

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
 * @param scope additional filters
 * @throws NodeApiError if the service fails for every value
 * @throws Error in the user's words if it returns records that do not match the filter
 */
export async function lookUp(recordList: RecordList, field: ComparedField, values: unknown[], scope: Query = {}): Promise<LookedUp> {
	const search: Search = { recordList, field, scope, found: new Map(), outcomes: new Map(), hasAccepted: false, refusals: 0 };
	const requests = chunks([...textsToFind(search, values)], Math.max(1, valuesPerRequest(recordList, field)));
	// One after the other until the service accepts a value: then it is certain that it refuses values, and not the filter.
	while (!search.hasAccepted && !isFilterRefused(search) && requests.length > 0) {
		const [half, ...otherHalf] = await ask(search, requests.shift()!);
		if (half) requests.unshift(half);
		requests.push(...otherHalf);
	}
	if (search.hasAccepted) await inParallel(requests, async (keys) => await askUntilAlone(search, keys));
	return (value) => {
		const key = matchKey(field, value);
		if (key === undefined) return { notFound: true };
		const records = search.found.get(key);
		if (records) return foundAmong([...records.values()]);
		const outcome = isFilterRefused(search) ? undefined : search.outcomes.get(key);
		return outcome ?? { failed: new Error(`The CRM cannot find records of ${wholePath(recordList.path)} by ${field.name}.`) };
	};
}

/** A look-up, and what the service has answered so far. */
interface Search {
	recordList: RecordList;
	field: ComparedField;
	scope: Query;
	/** By key, then by id. */
	found: Map<string, Map<string, IdentifiedRecord>>;
	/** Of the keys for which the service has answered, or whose value cannot be sent. */
	outcomes: Map<string, LookUpOutcome>;
	/** Whether it has accepted a value: then it takes the filter. */
	hasAccepted: boolean;
	/** How many values it has refused alone. */
	refusals: number;
}

const isFilterRefused = ({ hasAccepted, refusals }: Search): boolean => !hasAccepted && refusals >= maxRefused;

/** The texts by which to look for each key. A service that does not normalize or trim stores the text as written. */
function textsToFind({ recordList, field, outcomes }: Search, values: unknown[]): Map<string, Set<string>> {
	const textsByKey = new Map<string, Set<string>>();
	const isFilterable = filterFor(recordList, field) !== undefined;
	for (const value of values) {
		const key = matchKey(field, value);
		if (key === undefined) continue;
		const text = String(value);
		if (!isWellFormed(text)) outcomes.set(key, { refused: new Error(notWellFormed(text)) });
		else if (isFilterable) getOrCreate(textsByKey, key, () => new Set<string>()).add(text).add(trimmed(text.normalize('NFC')));
	}
	return textsByKey;
}

/** A key, and the texts by which to look for it. */
type Sought = [key: string, texts: Set<string>];

/** Asks for keys, and notes their outcomes. @returns the halves to ask for if one of several values is refused */
async function ask(search: Search, keys: Sought[]): Promise<Sought[][]> {
	const problem = await failureOfValue(readMatches(search, keys));
	if (problem && keys.length > 1) return chunks(keys, Math.ceil(keys.length / 2));
	if (!problem) search.hasAccepted = true;
	else if ('refused' in problem) search.refusals += 1;
	for (const [key] of keys) search.outcomes.set(key, problem ?? { notFound: true });
	return [];
}

async function askUntilAlone(search: Search, keys: Sought[]): Promise<void> {
	for (const half of await ask(search, keys)) await askUntilAlone(search, half);
}

async function readMatches({ recordList, field, scope, found }: Search, sought: Sought[]): Promise<void> {
	const { api, path, list, fields } = recordList;
	const filter = filterFor(recordList, field)!;
	const keys = new Set(sought.map(([key]) => key));
	const texts = sought.flatMap(([, each]) => [...each]);
	for (const filterValue of valueShape(filter) === 'list' ? [texts] : texts) {
		const query = withFields(list, { ...scope, ...filterQuery(filter, filterValue) } as Query, [...fields, field.path[0] ?? '']);
		for await (const { records } of readPages(api.send, { path, list, query })) {
			for (const record of identified(records)) {
				const key = matchKey(field, valueIn(record, field)) ?? '';
				if (!keys.has(key)) throw new Error(ignored(field.name, path));
				getOrCreate(found, key, () => new Map<string, IdentifiedRecord>()).set(record.id, record);
			}
		}
	}
}

/** Reads records by their ids: with one request for each if the service cannot filter by id. */
export async function recordsById(
	api: Connection,
	{ path, list, fields }: { path: Collection; list: ListDescription | undefined; fields: string[] },
	ids: string[],
	scope: Query = {},
): Promise<Map<string, IDataObject>> {
	const found = new Map<string, IDataObject>();
	const readAlone = async (id: string) => {
		const record = await findRecord(api, path + encodedPath`/${id}`);
		if (record && idText(record.id) === id) found.set(id, record);
	};
	if (!list || valuesPerRequest(list, idField) <= 1) {
		await inParallel(ids, readAlone);
		return found;
	}
	const idSet = new Set(ids);
	const allRecords = await wholeListIfShort(api, { path, list, fields }, Math.ceil(idSet.size / maxIds), scope);
	for (const record of allRecords ?? []) if (idSet.has(record.id)) found.set(record.id, record);
	for (const chunk of allRecords ? [] : chunks(ids, maxIds * 10)) {
		const lookedUp = await lookUp({ api, path, list, filters: list.filters, fields }, idField, chunk, scope);
		const unclear: string[] = [];
		for (const id of chunk) {
			const outcome = lookedUp(id);
			if ('found' in outcome) found.set(id, outcome.found);
			else if (!('notFound' in outcome)) unclear.push(id);
		}
		await inParallel(unclear, readAlone);
	}
	return found;
}

/** Whether records of a collection have IDs, as far as these were looked up; undefined if that failed. */
const lookedUpIds = keptFor<Connection, Map<string, boolean | undefined>>(() => new Map());

/** Looks IDs up, a hundred a request. @returns whether records have them; undefined for IDs that cannot be looked up */
export async function lookUpIds(api: Connection, collection: Collection, ids: string[]): Promise<ReadonlyMap<string, boolean | undefined>> {
	const idExists = lookedUpIds(api, collection);
	const unknown = ids.filter((id) => !idExists.has(id));
	const list = unknown.length > 0 ? (await api.describe(collection))?.list : undefined;
	const recordList = list && { api, path: collection, list, filters: list.filters, fields: [] };
	const outcomeOf = recordList && (await lookUp(recordList, idField, unknown).catch(() => undefined));
	for (const id of unknown) {
		const outcome = outcomeOf?.(id);
		idExists.set(id, !outcome || 'failed' in outcome ? undefined : foundIn(outcome).length > 0);
	}
	return idExists;
}

/** The minimum number of requests for which the length of the list is asked. */
const fewRequests = 5;

/** All records of a list if reading it takes fewer requests than looking up some of its records; undefined otherwise. */
export async function wholeListIfShort(
	api: Connection,
	{ path, list, fields }: Pick<RecordList, 'path' | 'list' | 'fields'>,
	requests: number,
	scope: Query = {},
): Promise<IdentifiedRecord[] | undefined> {
	if (!list.pageSize || requests < fewRequests) return undefined;
	const { name, maximum } = list.pageSize;
	const { total = Infinity } = await readPage(api.send, path, { list, query: withFields(list, { ...scope, [name]: 1 }, []) });
	return total / maximum >= requests ? undefined : await readWholeList({ api, path, list, fields }, scope);
}

/** The filter by which a list also returns deleted records, if it has one. */
export const includingDeleted = (list: ListDescription | undefined): Query => (list?.deleted ? { [list.deleted.parameter]: true } : {});

/** Whether a record of a list is deleted. */
export const isDeletedIn = ({ deleted }: ListDescription, record: IDataObject): boolean => (record[deleted?.field ?? ''] ?? null) !== null;

/**
 * Reads all records that match the filters, each once: while pages shift, one record may be returned twice and another
 * omitted.
 */
export async function readWholeList({ api, path, list, fields }: Omit<RecordList, 'filters'>, scope: Query): Promise<IdentifiedRecord[]> {
	const query = withFields(list, scope, [...fields, ...(list.created ? [list.created.field] : [])]);
	const records = await readAll(api.send, { path, list, query, cursors: parallelReads }, (record) => record);
	return [...new Map(identified(records).map((record) => [record.id, record])).values()];
}

/**
 * The outcome for a value if its request failed because of the value; undefined if the request succeeded.
 *
 * @throws errors that would affect other values, too
 */
export async function failureOfValue(request: Promise<unknown>): Promise<{ refused: Error } | { failed: Error } | undefined> {
	return await request.then(() => undefined, (error: Error) => {
		if (error instanceof DividedValue) return { failed: error };
		if (isAnsweredWith(error, ...refusedFilterValue)) return { refused: error };
		throw error;
	});
}

/** The query with the names of the fields to return, if the list accepts them. */
export function withFields(list: ListDescription, query: Query, fields: string[]): Query {
	if (list.fields === undefined) return query;
	return { ...query, [list.fields]: [...new Set(['id', ...fields])] };
}

/** The records with their ids as text: a service may write the same id as a number and as text. */
export const identified = (records: IDataObject[]): IdentifiedRecord[] =>
	records.map((record) => (typeof record.id === 'string' ? (record as IdentifiedRecord) : { ...record, id: String(record.id) }));

const ignored = (name: string, path: string) =>
	`The CRM returned records of ${wholePath(path)} that do not match the filter ${name}, so the node cannot use it. ${breaksRule(11)} Use another field, and report this to the CRM’s support.`;

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
