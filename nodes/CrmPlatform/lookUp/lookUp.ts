import type { IDataObject } from 'n8n-workflow';

import { breaksRule } from '../api/http/rules';
import type { Connection } from '../api/connection';
import { findRecord, isAnsweredWith } from '../api/record';
import { idText } from '../base/json';
import { chunks } from '../base/lists';
import { inParallel, parallelReads } from '../api/inParallel';
import { path as pathOf, type Query } from '../api/http/path';
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

/** A kind of record, and how to look up its records. */
export interface Collection {
	api: Connection;
	/** Collection path with version prefix. */
	path: string;
	list: ListDescription;
	/** The filters of the list, filters on custom fields included. */
	filters: Field[];
	/** Names of the fields to read. */
	fields: string[];
}

export interface IdentifiedRecord extends IDataObject {
	id: string;
}

/** The outcome of looking up a value. */
export type LookUpOutcome<Found = IdentifiedRecord> =
	| { found: Found }
	| { several: Found[] }
	| { notFound: true }
	/** The service has no filter for the field, does not respond, or returns other records. */
	| { failed: Error }
	/** The service does not accept this value in the filter, or the value cannot be sent. */
	| { refused: Error };

/** The outcome of finding these ids for one value. */
export function outcomeOfIds(ids: unknown[]): LookUpOutcome<unknown> {
	if (ids.length === 0) return { notFound: true };
	return ids.length === 1 ? { found: ids[0] } : { several: ids };
}

/** The outcome for a looked-up value, or one that the service considers equal. */
export type LookedUp = (value: unknown) => LookUpOutcome;

/** Maximum ids in one request, which limits the length of the URL. */
export const maxIds = 100;
/** Maximum values of another filter in one request. */
const maxValues = 50;

/** After this many refused values and no accepted one, the filter itself counts as refused. */
const maxRefused = 10;

const filterFor = ({ filters }: Pick<Collection, 'filters'>, { name }: Pick<Field, 'name'>): Field | undefined =>
	filters.find((filter) => filter.name === (name === 'id' ? 'ids' : name));

/** How many values of a field one request can look up; 0 if the list has no filter for the field. */
export function valuesPerRequest(collection: Pick<Collection, 'filters'>, field: Pick<Field, 'name'>): number {
	const filter = filterFor(collection, field);
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
export async function lookUp(
	collection: Collection,
	field: ComparedField,
	values: unknown[],
	scope: Query = {},
): Promise<LookedUp> {
	const run = new LookUpRun(collection, field, scope);
	await run.lookUp(values);
	return (value) => run.outcomeOf(value);
}

/**
 * Reads records by their ids: with one request for each if the service cannot filter by id.
 *
 * @param path collection path with version prefix
 */
export async function recordsById(
	api: Connection,
	{ path, list, fields }: { path: string; list: ListDescription | undefined; fields: string[] },
	ids: string[],
	scope: Query = {},
): Promise<Map<string, IDataObject>> {
	const found = new Map<string, IDataObject>();
	const readAlone = async (id: string) => {
		const record = await findRecord(api, path + pathOf`/${id}`);
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
		const outcomeOf = await lookUp({ api, path, list, filters: list.filters, fields }, idField, chunk, scope);
		const unclear: string[] = [];
		for (const id of chunk) {
			const outcome = outcomeOf(id);
			if ('found' in outcome) found.set(id, outcome.found);
			else if (!('notFound' in outcome)) unclear.push(id);
		}
		await inParallel(unclear, readAlone);
	}
	return found;
}

/** The minimum number of requests for which the length of the list is asked. */
const fewRequests = 5;

/** All records of a list if reading it takes fewer requests than looking up some of its records; undefined otherwise. */
export async function wholeListIfShort(
	api: Connection,
	{ path, list, fields }: Pick<Collection, 'path' | 'list' | 'fields'>,
	requests: number,
	scope: Query = {},
): Promise<IdentifiedRecord[] | undefined> {
	if (!list.pageSize || requests < fewRequests) return undefined;
	const { name, maximum } = list.pageSize;
	const { total = Infinity } = await readPage(api.send, path, { list, query: withFields(list, { ...scope, [name]: 1 }, []) });
	if (total / maximum >= requests) return undefined;
	const query = withFields(list, scope, [...fields, ...(list.created ? [list.created.field] : [])]);
	return identified(await readAll(api.send, { path, list, query, cursors: parallelReads }, (record) => record));
}

class LookUpRun {
	private readonly collection: Collection;
	private readonly field: ComparedField;
	private readonly scope: Query;
	private readonly filter: Field | undefined;
	private readonly textsByKey = new Map<string, string[]>();
	private readonly found = new Map<string, IdentifiedRecord[]>();
	private readonly failures = new Map<string, LookUpOutcome>();
	private readonly answered = new Set<string>();
	private readonly postponed: string[][] = [];
	/** Whether the service has accepted a value. */
	private hasAccepted = false;
	private refusals = 0;

	constructor(collection: Collection, field: ComparedField, scope: Query) {
		this.collection = collection;
		this.field = field;
		this.scope = scope;
		this.filter = filterFor(collection, field);
	}

	async lookUp(values: unknown[]): Promise<void> {
		for (const value of values) this.addText(value);
		const ask = async (keys: string[]): Promise<void> => await this.ask(keys);
		await inParallel(chunks([...this.textsByKey.keys()], Math.max(1, valuesPerRequest(this.collection, this.field))), ask);
		if (this.hasAccepted) await inParallel(this.postponed.splice(0), ask);
	}

	outcomeOf(value: unknown): LookUpOutcome {
		const key = matchKey(this.field, value);
		if (key === undefined) return { notFound: true };
		const records = this.found.get(key) ?? [];
		if (records.length > 0) return records.length > 1 ? { several: records } : { found: records[0]! };
		const failure = this.failures.get(key);
		if (failure && !this.isFilterRefused()) return failure;
		if (this.answered.has(key)) return { notFound: true };
		return { failed: new Error(noFilter(this.field.name, this.collection.path)) };
	}

	private addText(value: unknown): void {
		const key = matchKey(this.field, value);
		if (key === undefined) return;
		const text = String(value);
		// A service that does not normalize or trim stores the text as written.
		if (!isWellFormed(text)) {
			this.failures.set(key, { refused: new Error(notWellFormed(text)) });
		} else if (this.filter) {
			const texts = [...(this.textsByKey.get(key) ?? []), text, trimmed(text.normalize('NFC'))];
			this.textsByKey.set(key, [...new Set(texts)]);
		}
	}

	private isFilterRefused(): boolean {
		return !this.hasAccepted && this.refusals >= maxRefused;
	}

	private async ask(keys: string[]): Promise<void> {
		// A request still in flight may show that the service accepts values.
		if (this.isFilterRefused()) return void this.postponed.push(keys);
		const problem = await failureOfValue(this.read(keys));
		if (!problem) {
			this.hasAccepted = true;
			for (const key of keys) this.answered.add(key);
		} else if (keys.length === 1) {
			this.failures.set(keys[0]!, problem);
			if ('refused' in problem) this.refusals += 1;
		} else for (const some of chunks(keys, Math.ceil(keys.length / 2))) await this.ask(some);
	}

	private async read(keys: string[]): Promise<void> {
		const filter = this.filter!;
		const texts = keys.flatMap((key) => this.textsByKey.get(key) ?? []);
		for (const filterValue of valueShape(filter) === 'list' ? [texts] : texts) {
			const query = { ...this.scope, ...filterQuery(filter, filterValue) } as Query;
			for (const [key, record] of await recordsWith(this.collection, query, this.field, keys)) {
				const matches = this.found.get(key) ?? [];
				if (matches.every(({ id }) => id !== record.id)) this.found.set(key, [...matches, record]);
			}
		}
	}
}

/** The records that match a filter, each with its key. */
async function recordsWith(
	{ api, path, list, fields }: Collection,
	filters: Query,
	field: ComparedField,
	keys: string[],
): Promise<Array<[key: string, record: IdentifiedRecord]>> {
	const query = withFields(list, filters, [...fields, field.path[0] ?? '']);
	const requestedKeys = new Set(keys);
	const found: Array<[string, IdentifiedRecord]> = [];
	for await (const { records } of readPages(api.send, { path, list, query })) {
		for (const record of identified(records)) {
			const key = matchKey(field, valueIn(record, field)) ?? '';
			if (requestedKeys.has(key)) found.push([key, record]);
			else if (keys.length > 1) throw new OtherValue();
			// For a single value, the service's match is trusted.
			else if (loose(key) === loose(keys[0]!)) found.push([keys[0]!, record]);
			else throw new Error(ignored(field.name, path));
		}
	}
	return found;
}

/** The service returned a record without any of the requested values: it spells them differently, or ignores the filter. */
class OtherValue extends Error {}

/**
 * The outcome for a value if its request failed because of the value; undefined if the request succeeded.
 *
 * @throws errors that would affect other values, too
 */
export async function failureOfValue(
	request: Promise<unknown>,
): Promise<{ refused: Error } | { failed: Error } | undefined> {
	return await request.then(
		() => undefined,
		(error: Error) => {
			if (error instanceof OtherValue || error instanceof DividedValue) return { failed: error };
			if (isAnsweredWith(error, ...refusedFilterValue)) return { refused: error };
			throw error;
		},
	);
}

const loose = (key: string): string => key.normalize('NFKC').trim().toLowerCase();

/** The query with the names of the fields to return, if the list accepts them. */
export function withFields(list: ListDescription, query: Query, fields: string[]): Query {
	if (list.fields === undefined) return query;
	return { ...query, [list.fields]: [...new Set(['id', ...fields])] };
}

/** The records with their ids as text: a service may write the same id as a number and as text. */
export const identified = (records: IDataObject[]): IdentifiedRecord[] =>
	records.map((record) => (typeof record.id === 'string' ? (record as IdentifiedRecord) : { ...record, id: String(record.id) }));

const noFilter = (name: string, path: string) => `The CRM cannot find records of ${path} by ${name}.`;

const ignored = (name: string, path: string) =>
	`The CRM returned records of ${path} that do not match the filter ${name}, so the node cannot use it. ${breaksRule(11)} Use another field, and report this to the CRM’s support.`;

/** The longest list that helps a person. */
const maxShown = 1_000;

/** The first records at a path such as `/pipelines`, for lists that cannot be searched. */
export async function firstRecords(api: Connection, path: string, limit = maxShown): Promise<IDataObject[]> {
	const list = (await api.describe(path))?.list;
	if (!list) return [];
	const records: IDataObject[] = [];
	for await (const page of readPages(api.send, { path: `/v1${path}`, list, query: {}, limit })) {
		records.push(...page.records);
	}
	return records;
}
