import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import type { CrmEvent } from '../../api/crmEvent';
import type { Query } from '../../api/http/path';
import { readPages } from '../../api/lists/pages';
import { readPage, type Page } from '../../api/lists/page';
import type { ListDescription } from '../../api/openapi/listing';
import type { Backfill } from './position';
import { isOutside, statesOf } from './scopeOfState';

/** The chosen records, and their output. */
export interface RecordScope {
	/** Collection path with version prefix. */
	path: string;
	list: ListDescription;
	/** Without them, no record can leave the scope. */
	filters: Query;
	/** The filters, and the fields to ask for. */
	query: Query;
	output(record: IDataObject): IDataObject;
}

/** Reads the records in scope as they are now. */
export interface RecordReader {
	/** Collection path with version prefix. */
	path: string;
	/** Names the scope: another one has other records. */
	scope: string;
	/** A page of the backfill; an empty cursor is the first, of all records or of those created since an instant. */
	page(from: { cursor: string; from?: string | undefined }, size: number): Promise<Page>;
	/** When the last of some records was created, and which of them were created then. */
	lastOf(records: IDataObject[]): Backfill['last'];
	/** The newest records, the oldest of them first; any where the service does not list the newest first. */
	latest(limit: number): Promise<IDataObject[]>;
	/** One item for each of these records that is there and in scope. */
	existing(ids: string[]): Promise<IDataObject[]>;
	/** The same items of records that were just read. */
	asExisting(records: IDataObject[]): IDataObject[];
	/**
	 * One item for each record that the events are about.
	 *
	 * @param mayBeBehind whether the answer of a replica may be older than an event
	 * @throws RecordBehindError if it may, and is
	 */
	changed(events: CrmEvent[], mayBeBehind: boolean): Promise<IDataObject[]>;
}

/** The list of records does not show yet what an event tells of one. */
export class RecordBehindError extends Error {}

/** @throws Error in the user's words where the service cannot list records by id, or in the order of creation */
export function recordReader(api: Connection, scope: RecordScope): RecordReader {
	const { path, list, filters, query, output } = scope;
	const changedField = list.changed?.field ?? '';
	const byId = list.filters.find(({ name }) => name === 'ids')?.name;
	const { field: order, from: since } = list.created ?? {};
	if (byId === undefined || order === undefined || since === undefined || !list.sort?.values.includes(order)) {
		throw new Error(
			`Records: the service cannot list ${path} by ID and in order of creation. Choose Events.`,
		);
	}
	const sort = list.sort.name;

	const inScope = async (ids: string[]): Promise<Map<string, IDataObject>> => {
		const found = new Map<string, IDataObject>();
		for (let from = 0; from < ids.length; from += 100) {
			const some = { ...query, [byId]: ids.slice(from, from + 100) };
			for await (const { records } of readPages(api.send, { path, list, query: some })) {
				for (const record of records) found.set(String(record.id), record);
			}
		}
		return found;
	};

	/** An event says that a record is in scope that the list does not have. */
	const isBehind = (record: IDataObject | undefined, { type, data: { object } }: CrmEvent): boolean => {
		if (type.endsWith('.deleted')) return record !== undefined;
		if (!record) return !isOutside(object, filters);
		return Date.parse(String(record[changedField])) < Date.parse(String(object[changedField]));
	};

	const asExisting = (records: IDataObject[]) =>
		records.map((record): IDataObject => ({ ...output(record), change: 'existing' }));

	const pageBy = async (by: string, size: number, cursor = '', more: Query = {}): Promise<Page> => {
		const paged: Query = { ...query, ...more, [sort]: by };
		if (list.pageSize) paged[list.pageSize.name] = Math.min(size, list.pageSize.maximum);
		return await readPage(api.send, path, { list, query: paged, cursor: cursor === '' ? undefined : cursor });
	};

	return {
		asExisting,
		path,
		scope: JSON.stringify([path, filters]),

		async page({ cursor, from }, size) {
			return await pageBy(order, size, cursor, from === undefined ? {} : { [since]: from });
		},

		lastOf(some) {
			const created = some.at(-1)?.[order];
			if (typeof created !== 'string') return undefined;
			return { created, ids: some.filter((record) => record[order] === created).map(({ id }) => String(id)) };
		},

		async latest(limit) {
			const newestFirst = `-${order}`;
			const isOffered = list.sort?.values.includes(newestFirst) === true;
			const { records } = await pageBy(isOffered ? newestFirst : order, limit);
			const some = asExisting(records.slice(0, limit));
			return isOffered ? some.reverse() : some;
		},

		async existing(ids) {
			const found = await inScope(ids);
			// For a record that has been deleted since, there is an event of its deletion.
			return asExisting(ids.map((id) => found.get(id)).filter((record) => record !== undefined));
		},

		async changed(events, mayBeBehind) {
			const byRecord = new Map<string, CrmEvent[]>();
			for (const event of events) {
				const id = String(event.data.object.id);
				byRecord.set(id, [...(byRecord.get(id) ?? []), event]);
			}
			const found = await inScope([...byRecord.keys()]);
			return [...byRecord].flatMap(([id, its]) => {
				const record = found.get(id);
				if (mayBeBehind && isBehind(record, its.at(-1)!)) {
					throw new RecordBehindError(`The service does not yet return the record ${id} in the state that the event ${its.at(-1)!.id} reports`);
				}
				const isCreated = its.some(({ type }) => type.endsWith('.created'));
				if (record) return [{ ...output(record), change: isCreated ? 'created' : 'updated' }];
				const { type, data } = its.at(-1)!;
				// Without filters, a record that is not there has been deleted, of which an event tells.
				if (!type.endsWith('.deleted') && Object.keys(filters).length === 0) return [];
				// A record that was never in scope was never returned.
				if (its.flatMap(statesOf).every((state) => isOutside(state, filters))) return [];
				return [{ ...output(data.object), change: 'deleted' }];
			});
		},
	};
}
