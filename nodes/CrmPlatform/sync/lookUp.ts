import type { IDataObject } from 'n8n-workflow';

import { chunks } from '../api/batch';
import type { Connection } from '../api/connection';
import type { Query } from '../api/http/path';
import { readPages } from '../api/lists/pages';
import type { Field } from '../api/openapi/fields';
import type { ListDescription } from '../api/openapi/listing';
import { matchKey, valueIn, type ComparedField } from './compare';
import type { CrmRecord } from './matching';

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
export interface KeyToFind {
	field: ComparedField;
	/** As `matchKey` gives it. */
	key: string;
	value: unknown;
}

/** Values of one filter in one request: more would make a long URL. */
export const mostValues = 50;

/** Requests at the same time. */
export const parallelReads = 5;

/** One request by values of one filter. */
export interface LookUp {
	filter: string;
	value: string | readonly string[];
	field: ComparedField;
	keys: ReadonlySet<string>;
}

/** The requests that look the values up; undefined where one of them cannot be filtered by. */
export function lookUps({ filters }: Collection, wanted: KeyToFind[]): LookUp[] | undefined {
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
		const isList = filter.kind === 'list' && filter.encoding === undefined && ![...values.values()].some((value) => value.includes(','));
		for (const some of chunks([...values], isList ? mostValues : 1)) {
			const given = some.map(([, value]) => value);
			const keys = new Set(some.map(([key]) => key));
			requests.push({ filter: name, value: isList ? given : given[0]!, field, keys });
		}
	}
	return requests;
}

/**
 * Finds the records that have one of the values.
 *
 * @throws Error in the user's words where the service does not filter by them
 */
export async function lookUp(
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

/** The query with the names of the fields to answer with, where the list takes them. */
export function withFields(list: ListDescription, query: Query, fields: string[]): Query {
	if (list.fields === undefined) return query;
	return { ...query, [list.fields]: [...new Set(['id', ...fields])] };
}

/** @throws Error in the user's words where a record has no id */
export function identified(records: IDataObject[], path: string): CrmRecord[] {
	for (const { id } of records) {
		if (typeof id !== 'string' && typeof id !== 'number') throw new Error(withoutId(path));
	}
	return records as CrmRecord[];
}

/** Does the work for each, a few at the same time, and gives the results in their order. */
export async function inParallel<In, Out>(all: In[], work: (one: In) => Promise<Out>): Promise<Out[]> {
	const results: Out[] = [];
	let next = 0;
	const worker = async () => {
		while (next < all.length) {
			const place = next++;
			results[place] = await work(all[place]!);
		}
	};
	await Promise.all(Array.from({ length: Math.min(parallelReads, all.length) }, worker));
	return results;
}

const ignored = (filter: string, path: string) =>
	`The service gave records of ${path} that the filter ${filter} does not let through, so records cannot be found by it. Choose another field in Match On, and report it to the service’s support.`;

const withoutId = (path: string) =>
	`The service gave records of ${path} without id, so they cannot be kept in step.`;
