import type { IDataObject } from 'n8n-workflow';

import type { Query } from '../api/http/path';
import { chunks, mostIds } from '../api/batch';
import { requestPage } from '../api/lists/page';
import { readPages } from '../api/lists/pages';
import { readAll } from '../api/lists/parallel';
import { matchKey, valueIn, type ComparedField } from './compare';
import {
	parallelReads,
	identified,
	inParallel,
	lookUp,
	lookUps,
	mostValues,
	withFields,
	type Collection,
	type KeyToFind,
} from './lookUp';
import type { CrmRecord } from './matching';

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
	const records = await readAll(api.send, { path, list, query, cursors: parallelReads }, (record) => record);
	return identified(records, path);
}

/** The outcome of looking records up. */
export interface FoundRecords {
	/** Records in scope; records without any of the values may be among them. */
	records: CrmRecord[];
	/** Ids of the records, in scope and outside, that have a value; undefined where that is unknown. */
	holdersOf(field: ComparedField, key: string): readonly string[] | undefined;
}

/** Values to look records up by. */
export interface KeysToFind {
	count: number;
	/** They are put together only where they are needed: those of 100,000 records take much memory. */
	keys(): KeyToFind[];
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
	{ count: wantedCount, keys }: KeysToFind,
	scope: Query = {},
): Promise<FoundRecords> {
	const isScoped = Object.keys(scope).length > 0;
	const scopeRequests = isScoped ? Math.ceil(wantedCount / mostIds) : 0;
	let pages: number | undefined;
	const isMoreThanPages = async (count: number) =>
		count > 1 && count > (pages ??= await pageCount(collection, scope));
	const fewest = Math.ceil(wantedCount / mostValues) + scopeRequests;
	const isLookedUp = !(await isMoreThanPages(fewest));
	const wanted = isLookedUp ? keys() : [];
	const requests = isLookedUp ? lookUps(collection, wanted) : undefined;
	if (!requests || (await isMoreThanPages(requests.length + scopeRequests))) {
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
export function inWholeList(records: CrmRecord[], isScoped: boolean): FoundRecords {
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

/** How many records meet the filters; undefined where the service does not say. */
export async function countRecords({ api, path, list }: Collection, scope: Query): Promise<number | undefined> {
	const size = list.pageSize ? { [list.pageSize.name]: 1 } : {};
	const query = withFields(list, { ...scope, ...size }, []);
	return (await requestPage(api.send, path, { list, query })).page.total;
}

/** How many requests it takes to read the whole list; unlimited where the service does not say. */
async function pageCount(collection: Collection, scope: Query): Promise<number> {
	const { pageSize } = collection.list;
	if (!pageSize) return Infinity;
	return Math.ceil(((await countRecords(collection, scope)) ?? Infinity) / pageSize.maximum);
}
