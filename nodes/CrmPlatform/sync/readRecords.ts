import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { getOrCreate } from '../base/maps';
import type { Query } from '../api/http/path';
import { breaksRule } from '../api/http/rules';
import { readPage } from '../api/lists/pages';
import { readAll } from '../api/lists/parallel';
import { conditionOf, verdictOf, type Condition } from '../fields/condition';
import { idField, type ConvertedValue, type Field } from '../fields/field';
import { listNameOf, valueIn, type ComparedField } from '../fields/keys';
import { parallelReads } from '../api/inParallel';
import { identified, lookUp, maxIds, valuesPerRequest, withFields, type Collection } from '../lookUp/lookUp';
import { isBlank } from '../values/blank';
import { recordsByKey, type CrmRecord } from './matching';

/**
 * Reads all records that match the filters, each once: while pages shift, one record may be returned twice and
 * another omitted.
 *
 * @throws Error in the user's words if the list cannot be read to its end
 */
export async function readWholeList({ api, path, list, fields }: Collection, scope: Query): Promise<CrmRecord[]> {
	const query = withFields(list, scope, [...fields, ...(list.created ? [list.created.field] : [])]);
	const records = await readAll(api.send, { path, list, query, cursors: parallelReads }, (record) => record);
	return [...new Map(identified(records).map((record) => [record.id, record])).values()];
}

/** The outcome of looking records up. */
export interface FoundRecords {
	/** Records in scope; records without any of the values may be among them. */
	records: CrmRecord[];
	/** Ids of the records, in scope and outside, that have a value; undefined if unknown. */
	holdersOf(field: ComparedField, key: string): readonly string[] | undefined;
}

/** A value to look records up by. */
export interface KeyToFind {
	field: ComparedField;
	/** The key that `matchKey` returns for the value. */
	key: string;
	value: unknown;
}

/** Values to look records up by. */
export interface KeysToFind {
	count: number;
	/** Built only on demand: the keys of 100,000 records take much memory. */
	keys(): KeyToFind[];
}

/**
 * Finds the records in scope that have one of the values, with as few requests as possible: by filters, or by
 * reading the whole list if that takes fewer. No record has a value that the service refuses as a filter,
 * since it refuses to write such a value, too.
 *
 * @param scope filters that the records have to meet
 * @throws Error in the user's words
 */
export async function findRecords(
	collection: Collection,
	{ count, keys }: KeysToFind,
	scope: Query = {},
): Promise<FoundRecords> {
	const isScoped = Object.keys(scope).length > 0;
	const scopeRequests = isScoped ? Math.ceil(count / maxIds) : 0;
	let pages: number | undefined;
	const isMoreThanPages = async (requests: number) =>
		requests > 1 && requests > (pages ??= await pageCount(collection, scope));
	const fewest = Math.ceil(count / maxIds) + scopeRequests;
	const valuesByField = (await isMoreThanPages(fewest)) ? undefined : byField(keys());
	const requests = [...(valuesByField ?? [])].map(([field, { size }]) => size / valuesPerRequest(collection, field));
	const all = requests.reduce((sum, some) => sum + Math.ceil(some), scopeRequests);
	const found = valuesByField && !(await isMoreThanPages(all)) ? await findByFilters(collection, valuesByField) : undefined;
	const ids = found && (await idsInScope(collection, scope, found.records.map(({ id }) => id)));
	if (!found || !ids) return inWholeList(await readWholeList(collection, scope), isScoped);
	return { records: found.records.filter(({ id }) => ids.has(id)), holdersOf: found.holdersOf };
}

/** The values of each field, by their keys. */
type ValuesByField = Map<ComparedField, Map<string, unknown>>;

function byField(keys: KeyToFind[]): ValuesByField {
	const valuesByField: ValuesByField = new Map();
	for (const { field, key, value } of keys) {
		valuesByField.set(field, (valuesByField.get(field) ?? new Map<string, unknown>()).set(key, value));
	}
	return valuesByField;
}

/** The records that have one of the values; undefined if the service cannot filter by one of them. */
async function findByFilters(collection: Collection, valuesByField: ValuesByField): Promise<FoundRecords | undefined> {
	const records = new Map<string, CrmRecord>();
	const holders = new Map<string, string[]>();
	const nameOf = (field: ComparedField, key: string) => JSON.stringify([field.name, key]);
	for (const [field, values] of valuesByField) {
		const outcomeOf = await lookUp(collection, field, [...values.values()]);
		for (const [key, value] of values) {
			const outcome = outcomeOf(value);
			if ('failed' in outcome) return undefined;
			const found = 'several' in outcome ? outcome.several : 'found' in outcome ? [outcome.found] : [];
			for (const record of found) records.set(record.id, record);
			holders.set(nameOf(field, key), found.map(({ id }) => id));
		}
	}
	return { records: [...records.values()], holdersOf: (field, key) => holders.get(nameOf(field, key)) };
}

/** The outcome of reading the whole list: with a scope, records outside it stay unknown. */
export function inWholeList(records: CrmRecord[], isScoped: boolean): FoundRecords {
	const byField = new Map<string, ReturnType<typeof recordsByKey>>();
	const holders = (field: ComparedField, key: string) => getOrCreate(byField, field.name, () => recordsByKey(records, field))(key).map(({ id }) => id);
	return { records, holdersOf: (field, key) => (isScoped ? undefined : holders(field, key)) };
}

/**
 * Finds the ids that are in scope.
 *
 * @returns undefined if the list cannot be filtered by ids, or the scope already does so
 */
async function idsInScope(collection: Collection, scope: Query, ids: string[]): Promise<Set<string> | undefined> {
	if (Object.keys(scope).length === 0) return new Set(ids);
	if (valuesPerRequest(collection, idField) <= 1 || scope.ids !== undefined) return undefined;
	const outcomeOf = await lookUp({ ...collection, fields: [] }, idField, ids, scope);
	const isClear = ids.every((id) => 'found' in outcomeOf(id) || 'notFound' in outcomeOf(id));
	return isClear ? new Set(ids.filter((id) => 'found' in outcomeOf(id))) : undefined;
}

/** Number of requests that read the whole list; Infinity if the service does not count the records. */
async function pageCount({ api, path, list }: Collection, scope: Query): Promise<number> {
	const { pageSize } = list;
	if (!pageSize) return Infinity;
	const query = withFields(list, { ...scope, [pageSize.name]: 1 }, []);
	const { total = Infinity } = await readPage(api.send, path, { list, query });
	return Math.ceil(total / pageSize.maximum);
}

/**
 * Finds the filters of the scope that records can be checked against.
 *
 * @param recordFields the names of the members of records; empty if the service does not describe them
 */
export function conditionsOfScope(scope: ConvertedValue[], fields: Field[], recordFields: ReadonlySet<string>): Condition[] {
	return scope.map(({ field, converted }) => {
		const condition = conditionOf(field.name, converted, field, fields);
		return { ...condition, isAlwaysListed: recordFields.has(condition.field.path[0] ?? '') };
	});
}

/** The members of a record that decide whether it is in scope. */
export const namesOfScope = (conditions: Condition[], recordFields: ReadonlySet<string>): string[] =>
	conditions.flatMap(({ field }) => [field.path[0] ?? '', listNameOf(field)]).filter((name) => recordFields.has(name));

/**
 * Prepares a check of records that finds those outside the scope, for example because the service ignores the filters.
 *
 * @param records all records that were read with the scope: if one of them has a field, the others have no value
 * @returns a function that returns why a record is outside; undefined if it is in scope, as far as its fields show
 */
export function scopeCheck(records: readonly IDataObject[], conditions: Condition[]): (record: IDataObject) => string | undefined {
	const checked = conditions.map((condition) => ({
		...condition,
		isAlwaysListed: condition.isAlwaysListed || records.some((record) => valueIn(record, condition.field) !== undefined),
	}));
	return (record) => {
		const broken = checked.find((condition) => verdictOf(record, [[condition]]) === 'no');
		return broken && outside(broken.field, String(record.id), valueIn(record, broken.field));
	};
}

const outside = ({ label }: Condition['field'], id: string, value: unknown) =>
	`Records in Scope: the CRM returned record ${id}, whose ${label} is ${isBlank(value) ? 'empty' : `“${String(isObject(value) ? JSON.stringify(value) : value).slice(0, 100)}”`}, which the filter excludes. ${breaksRule(11)} Choose another filter, and report it to the CRM’s support.`;
