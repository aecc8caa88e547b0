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

/** The list of records does not show yet what an event tells of one. */
export class RecordBehindError extends Error {}

/** The parameters of the list that a reader needs. */
interface ListParameters {
	/** Takes the ids of records. */
	ids: string;
	sort: string;
	/** Sorts by creation. */
	order: string;
	/** Takes an instant since which records were created. */
	createdSince: string;
}

/** Reads the records in scope as they are now. */
export class RecordReader {
	/** Collection path with version prefix. */
	readonly path: string;
	/** Names the scope: another one has other records. */
	readonly scope: string;
	private readonly api: Connection;
	private readonly options: RecordScope;
	private readonly parameters: ListParameters;

	/** @throws Error in the user's words where the service cannot list records by id, or in the order of creation */
	constructor(api: Connection, options: RecordScope) {
		this.api = api;
		this.options = options;
		this.path = options.path;
		this.scope = JSON.stringify([options.path, options.filters]);
		this.parameters = parametersOf(options);
	}

	/** A page of the backfill; an empty cursor is the first, of all records or of those created since an instant. */
	async page({ cursor, from }: { cursor: string; from?: string | undefined }, size: number): Promise<Page> {
		const { order, createdSince } = this.parameters;
		return await this.sortedPage(order, size, cursor, from === undefined ? {} : { [createdSince]: from });
	}

	/** When the last of these records was created, and which of them were created then. */
	lastOf(records: IDataObject[]): Backfill['last'] {
		const { order } = this.parameters;
		const created = records.at(-1)?.[order];
		if (typeof created !== 'string') return undefined;
		return { created, ids: records.filter((record) => record[order] === created).map(({ id }) => String(id)) };
	}

	/** The newest records, the oldest of them first; any where the service does not list the newest first. */
	async latest(limit: number): Promise<IDataObject[]> {
		const { order } = this.parameters;
		const newestFirst = `-${order}`;
		const isOffered = this.options.list.sort?.values.includes(newestFirst) === true;
		const { records } = await this.sortedPage(isOffered ? newestFirst : order, limit);
		const items = this.asExisting(records.slice(0, limit));
		return isOffered ? items.reverse() : items;
	}

	/** One item for each of these records that is there and in scope. */
	async existing(ids: string[]): Promise<IDataObject[]> {
		const found = await this.inScope(ids);
		// For a record that has been deleted since, there is an event of its deletion.
		return this.asExisting(ids.map((id) => found.get(id)).filter((record) => record !== undefined));
	}

	/** The same items of records that were just read. */
	asExisting(records: IDataObject[]): IDataObject[] {
		return records.map((record): IDataObject => ({ ...this.options.output(record), change: 'existing' }));
	}

	/**
	 * One item for each record that the events are about.
	 *
	 * @param mayBeBehind whether the answer of a replica may be older than an event
	 * @throws RecordBehindError if it may, and is
	 */
	async changed(events: CrmEvent[], mayBeBehind: boolean): Promise<IDataObject[]> {
		const eventsByRecord = new Map<string, CrmEvent[]>();
		for (const event of events) {
			const id = String(event.data.object.id);
			eventsByRecord.set(id, [...(eventsByRecord.get(id) ?? []), event]);
		}
		const found = await this.inScope([...eventsByRecord.keys()]);
		return [...eventsByRecord].flatMap(([id, recordEvents]) => {
			const record = found.get(id);
			const last = recordEvents.at(-1)!;
			if (mayBeBehind && this.isBehind(record, last)) {
				throw new RecordBehindError(`The CRM does not yet return the record ${id} in the state that the event ${last.id} reports`);
			}
			const item = this.changedItem(record, recordEvents, last);
			return item === undefined ? [] : [item];
		});
	}

	/** @returns undefined if there is nothing to tell of the record */
	private changedItem(record: IDataObject | undefined, recordEvents: CrmEvent[], { type, data }: CrmEvent): IDataObject | undefined {
		const { filters, output } = this.options;
		const isCreated = recordEvents.some((event) => event.type.endsWith('.created'));
		if (record) return { ...output(record), change: isCreated ? 'created' : 'updated' };
		// Without filters, a record that is not there has been deleted, of which an event tells.
		if (!type.endsWith('.deleted') && Object.keys(filters).length === 0) return undefined;
		// A record that was never in scope was never returned.
		if (recordEvents.flatMap(statesOf).every((state) => isOutside(state, filters))) return undefined;
		return { ...output(data.object), change: 'deleted' };
	}

	/** Whether an event says that a record is in scope, or has changed, and the list does not show that. */
	private isBehind(record: IDataObject | undefined, { type, data: { object } }: CrmEvent): boolean {
		const { list, filters } = this.options;
		const changedField = list.changed?.field ?? '';
		if (type.endsWith('.deleted')) return record !== undefined;
		if (!record) return !isOutside(object, filters);
		return Date.parse(String(record[changedField])) < Date.parse(String(object[changedField]));
	}

	/** Those of these records that are there and in scope, by id. */
	private async inScope(ids: string[]): Promise<Map<string, IDataObject>> {
		const { path, list, query } = this.options;
		const found = new Map<string, IDataObject>();
		for (let from = 0; from < ids.length; from += 100) {
			const partQuery = { ...query, [this.parameters.ids]: ids.slice(from, from + 100) };
			for await (const { records } of readPages(this.api.send, { path, list, query: partQuery })) {
				for (const record of records) found.set(String(record.id), record);
			}
		}
		return found;
	}

	private async sortedPage(order: string, size: number, cursor = '', filters: Query = {}): Promise<Page> {
		const { path, list, query } = this.options;
		const pageQuery: Query = { ...query, ...filters, [this.parameters.sort]: order };
		if (list.pageSize) pageQuery[list.pageSize.name] = Math.min(size, list.pageSize.maximum);
		return await readPage(this.api.send, path, { list, query: pageQuery, cursor: cursor === '' ? undefined : cursor });
	}
}

function parametersOf({ path, list }: RecordScope): ListParameters {
	const ids = list.filters.find(({ name }) => name === 'ids')?.name;
	const { field: order, from: createdSince } = list.created ?? {};
	if (ids !== undefined && order !== undefined && createdSince !== undefined && list.sort?.values.includes(order)) {
		return { ids, sort: list.sort.name, order, createdSince };
	}
	throw new Error(`Records: the CRM cannot list ${path} by ID and in order of creation. Choose Events.`);
}
