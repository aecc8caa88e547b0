import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import type { CrmEvent } from '../../api/event';
import type { Query } from '../../api/http/path';
import { readPages } from '../../api/lists/pages';
import { readPage, type Page } from '../../api/lists/page';
import type { ListDescription } from '../../api/openapi/listing';

/** Which records the user wants, and what comes out of them. */
export interface RecordScope {
	/** Collection path with version prefix. */
	path: string;
	list: ListDescription;
	/** The filters, and the fields to ask for. */
	query: Query;
	/** Whether there are filters, so that a record can leave the scope. */
	isFiltered: boolean;
	output(record: IDataObject): IDataObject;
}

/** Reads the records in scope as they are now. */
export interface RecordReader {
	/** A page of the backfill; an empty cursor is the first. */
	page(cursor: string, size: number): Promise<Page>;
	/** The newest records, the oldest of them first; any where the service does not list the newest first. */
	latest(most: number): Promise<IDataObject[]>;
	/** One item for each of these records that is there and in scope. */
	existing(ids: string[]): Promise<IDataObject[]>;
	/** The same items of records that were just read. */
	asExisting(records: IDataObject[]): IDataObject[];
	/** One item for each record that the events are about. */
	changed(events: CrmEvent[]): Promise<IDataObject[]>;
}

/** @throws Error in the user's words where the service cannot list records by id, or in the order of creation */
export function recordReader(api: Connection, scope: RecordScope): RecordReader {
	const { path, list, query, isFiltered, output } = scope;
	const byId = list.filters.find(({ name }) => name === 'ids')?.name;
	const order = list.sort?.values.includes(list.created?.field ?? '') ? list.created?.field : undefined;
	if (byId === undefined || order === undefined || !list.sort) {
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

	const asExisting = (records: IDataObject[]) =>
		records.map((record): IDataObject => ({ ...output(record), change: 'existing' }));

	const pageBy = async (by: string, size: number, cursor = ''): Promise<Page> => {
		const paged: Query = { ...query, [sort]: by };
		if (list.pageSize) paged[list.pageSize.name] = Math.min(size, list.pageSize.maximum);
		return await readPage(api.send, path, { list, query: paged, cursor: cursor === '' ? undefined : cursor });
	};

	return {
		asExisting,
		page: async (cursor, size) => await pageBy(order, size, cursor),

		async latest(most) {
			const newestFirst = `-${order}`;
			const isOffered = list.sort?.values.includes(newestFirst) === true;
			const { records } = await pageBy(isOffered ? newestFirst : order, most);
			const some = asExisting(records.slice(0, most));
			return isOffered ? some.reverse() : some;
		},

		async existing(ids) {
			const found = await inScope(ids);
			// A record that is gone by now is told of by the event of its deletion.
			return asExisting(ids.map((id) => found.get(id)).filter((record) => record !== undefined));
		},

		async changed(events) {
			const last = new Map<string, CrmEvent>();
			const created = new Set<string>();
			for (const event of events) {
				const id = String(event.data.object.id);
				last.set(id, event);
				if (event.type.endsWith('.created')) created.add(id);
			}
			const found = await inScope([...last.keys()]);
			return [...last].flatMap(([id, { type, data }]) => {
				const record = found.get(id);
				if (record) return [{ ...output(record), change: created.has(id) ? 'created' : 'updated' }];
				// Without filters, a record that is not there has been deleted, of which an event tells.
				if (!type.endsWith('.deleted') && !isFiltered) return [];
				return [{ ...output(data.object), change: 'deleted' }];
			});
		},
	};
}
