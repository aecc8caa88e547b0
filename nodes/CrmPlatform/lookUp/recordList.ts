import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { parallelReads } from '../api/inParallel';
import { filledPath, type Collection, type Query } from '../api/http/path';
import { readPage, readPages } from '../api/lists/pages';
import { readAll } from '../api/lists/parallel';
import type { ListDescription } from '../api/openapi/listing';
import type { Field } from '../fields/field';

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
