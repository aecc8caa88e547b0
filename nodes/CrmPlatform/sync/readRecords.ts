import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import type { Query } from '../api/http/path';
import { readPage } from '../api/lists/page';
import { readPages } from '../api/lists/pages';
import { readAll } from '../api/lists/parallel';
import type { ListDescription } from '../api/openapi/listing';
import type { Field } from '../api/openapi/fields';
import { matchKey, valueIn, type ComparedField } from './compare';
import type { CrmRecord } from './plan';

/** The records of one kind, as a sync reads them. */
export interface Collection {
	api: Connection;
	/** Collection path with version prefix. */
	path: string;
	list: ListDescription;
	/** The filters of the list, those on custom fields included. */
	filters: Field[];
	/** Names of the fields to read. */
	fields: string[];
}

/** A value to look records up by. */
export interface Wanted {
	field: ComparedField;
	/** As `matchKey` gives it. */
	key: string;
	value: unknown;
}

/** Values of one filter in one request: more would make a long URL. */
const mostValues = 50;

/** Ids in one request, by the same measure. */
const mostIds = 100;

/** Requests at the same time. */
const concurrency = 5;

/**
 * Reads all records that the filters let through.
 *
 * @throws Error in the user's words where the list cannot be read to its end
 */
export async function readWhole(
	{ api, path, list, fields }: Collection,
	scope: Query,
): Promise<CrmRecord[]> {
	const query = withFields(list, scope, [...fields, ...(list.created ? [list.created.field] : [])]);
	const records = await readAll(api.send, { path, list, query, cursors: concurrency }, (record) => record);
	return identified(records, path);
}

/** The outcome of looking records up. */
export interface Found {
	/** Records in scope; records without any of the values may be among them. */
	records: CrmRecord[];
	/** Ids of the records, in scope and outside, that have a value; undefined where that is unknown. */
	holdersOf(field: ComparedField, key: string): readonly string[] | undefined;
}

/**
 * Finds the records in scope that have one of the values, with as few requests as it takes: by
 * filters, or by reading the whole list where that takes fewer.
 *
 * @param scope filters that the records have to meet
 * @throws Error in the user's words
 */
export async function findRecords(
	collection: Collection,
	wanted: Wanted[],
	scope: Query = {},
): Promise<Found> {
	const isScoped = Object.keys(scope).length > 0;
	const requests = lookUps(collection, wanted);
	const count = (requests?.length ?? 0) + (isScoped ? Math.ceil(wanted.length / mostIds) : 0);
	if (!requests || (count > 1 && count > (await pageCount(collection, scope)))) {
		return inWholeList(await readWhole(collection, scope), isScoped);
	}
	const found = await inParallel(requests, async (request) => await lookUp(collection, request));
	const records = new Map(found.flat().map((record) => [record.id, record]));
	const ids = await idsInScope(collection, scope, [...records.keys()]);
	if (!ids) return inWholeList(await readWhole(collection, scope), true);
	const holders = holdersIn([...records.values()]);
	const known = new Set(wanted.map(({ field, key }) => JSON.stringify([field.name, key])));
	return {
		records: [...records.values()].filter(({ id }) => ids.has(id)),
		holdersOf: (field, key) =>
			known.has(JSON.stringify([field.name, key])) ? holders(field, key) : undefined,
	};
}

/** What is known of a list that was read whole; outside of a scope, nothing is. */
export function inWholeList(records: CrmRecord[], isScoped: boolean): Found {
	const holders = holdersIn(records);
	return { records, holdersOf: (field, key) => (isScoped ? undefined : holders(field, key)) };
}

/** Finds the ids of the records with a value. */
function holdersIn(records: CrmRecord[]): (field: ComparedField, key: string) => readonly string[] {
	const byField = new Map<string, Map<string, string[]>>();
	return (field, key) => {
		const known = byField.get(field.name) ?? indexBy(records, field);
		byField.set(field.name, known);
		return known.get(key) ?? [];
	};
}

function indexBy(records: CrmRecord[], field: ComparedField): Map<string, string[]> {
	const index = new Map<string, string[]>();
	for (const record of records) {
		const key = matchKey(field, valueIn(record, field));
		if (key === undefined) continue;
		const same = index.get(key);
		if (same) same.push(record.id);
		else index.set(key, [record.id]);
	}
	return index;
}

/**
 * The ids that are in scope.
 *
 * @returns undefined where the list cannot be asked for ids, or is by the scope already
 */
async function idsInScope(
	{ api, path, list }: Collection,
	scope: Query,
	ids: string[],
): Promise<Set<string> | undefined> {
	if (Object.keys(scope).length === 0) return new Set(ids);
	const isAskable = list.filters.some(({ name, kind }) => name === 'ids' && kind === 'list');
	if (!isAskable || scope.ids !== undefined) return undefined;
	const pages = await inParallel(chunks(ids, mostIds), async (some) => {
		const query = withFields(list, { ...scope, ids: some }, []);
		const records: IDataObject[] = [];
		for await (const page of readPages(api.send, { path, list, query })) records.push(...page.records);
		return identified(records, path).map(({ id }) => id);
	});
	return new Set(pages.flat());
}

/** One request by values of one filter. */
interface LookUp {
	filter: string;
	value: string | readonly string[];
	field: ComparedField;
	keys: ReadonlySet<string>;
}

/** The requests that look the values up; undefined where one of them cannot be filtered by. */
function lookUps({ filters }: Collection, wanted: Wanted[]): LookUp[] | undefined {
	const requests: LookUp[] = [];
	const byField = new Map<ComparedField, Map<string, string>>();
	for (const { field, key, value } of wanted) {
		const values = byField.get(field) ?? new Map<string, string>();
		byField.set(field, values.set(key, String(value)));
	}
	for (const [field, values] of byField) {
		const name = field.name === 'id' ? 'ids' : field.name;
		const filter = filters.find((one) => one.name === name);
		if (!filter) return undefined;
		// In a list, a comma would divide one value into two.
		const isList = filter.kind === 'list' && ![...values.values()].some((value) => value.includes(','));
		for (const some of chunks([...values], isList ? mostValues : 1)) {
			const given = some.map(([, value]) => value);
			const keys = new Set(some.map(([key]) => key));
			requests.push({ filter: name, value: isList ? given : given[0]!, field, keys });
		}
	}
	return requests;
}

async function lookUp(
	{ api, path, list, fields }: Collection,
	{ filter, value, field, keys }: LookUp,
): Promise<CrmRecord[]> {
	const query = withFields(list, { [filter]: value }, [...fields, field.path[0] ?? '']);
	const records: CrmRecord[] = [];
	for await (const page of readPages(api.send, { path, list, query })) {
		for (const record of identified(page.records, path)) {
			const key = matchKey(field, valueIn(record, field));
			if (key === undefined || !keys.has(key)) throw new Error(ignored(filter, path));
			records.push(record);
		}
	}
	return records;
}

/** How many records meet the filters; undefined where the service does not say. */
export async function countRecords({ api, path, list }: Collection, scope: Query): Promise<number | undefined> {
	const size = list.pageSize ? { [list.pageSize.name]: 1 } : {};
	return (await readPage(api.send, path, withFields(list, { ...scope, ...size }, []))).total;
}

/** How many requests it takes to read the whole list; unlimited where the service does not say. */
async function pageCount(collection: Collection, scope: Query): Promise<number> {
	const { pageSize } = collection.list;
	if (!pageSize) return Infinity;
	return Math.ceil(((await countRecords(collection, scope)) ?? Infinity) / pageSize.maximum);
}

function withFields(list: ListDescription, query: Query, fields: string[]): Query {
	if (list.fields === undefined) return query;
	return { ...query, [list.fields]: [...new Set(['id', ...fields])] };
}

/** @throws Error in the user's words where a record has no id */
function identified(records: IDataObject[], path: string): CrmRecord[] {
	for (const { id } of records) {
		if (typeof id !== 'string' && typeof id !== 'number') throw new Error(withoutId(path));
	}
	return records as CrmRecord[];
}

async function inParallel<In, Out>(all: In[], work: (one: In) => Promise<Out>): Promise<Out[]> {
	const results: Out[] = [];
	let next = 0;
	const worker = async () => {
		while (next < all.length) {
			const place = next++;
			results[place] = await work(all[place]!);
		}
	};
	await Promise.all(Array.from({ length: Math.min(concurrency, all.length) }, worker));
	return results;
}

function chunks<One>(all: One[], size: number): One[][] {
	return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}

const ignored = (filter: string, path: string) =>
	`The service gave records of ${path} that the filter ${filter} does not let through, so records cannot be found by it. Choose another field in Match On, and report it to the service’s support.`;

const withoutId = (path: string) =>
	`The service gave records of ${path} without id, so they cannot be kept in step.`;
