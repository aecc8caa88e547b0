import type { IDataObject } from 'n8n-workflow';

import { chunks } from '../../base/lists';
import { getOrCreate } from '../../base/maps';
import { withoutMembers } from '../../base/ownMembers';
import type { Connection } from '../../api/connection';
import { type CrmEvent, isErased, statesOf } from '../../log/crmEvent';
import { wholePath, type Collection, type Query } from '../../api/http/path';
import { ruleBroken } from '../../api/http/rules';
import { readPage, readPages, type Page } from '../../api/lists/pages';
import type { ListDescription } from '../../api/openapi/listing';
import { conditionOf, verdictOf, type Condition } from '../../fields/condition';
import { type Field, idField } from '../../fields/field';
import { recordsById, maxIds, withFields } from '../../lookUp/lookUp';
import type { OutputField } from '../../model';
import { simplify } from '../../reading/simplify';
import type { Backfill } from './position';

export interface RecordScope {
	path: Collection;
	/** Its path before keys are filled in. */
	template: Collection;
	/** With the filters by custom fields, if it is filtered by any. */
	list: ListDescription;
	/** Of the records, custom ones included if filters are about any. */
	fields: Field[];
	/** As the user entered them, and with ids instead of names: a record that any of these queries returns is in scope. */
	filters: { entered: string; queries: Query[] };
	/** Absent for whole records. */
	outputFields?: OutputField[] | undefined;
}

/** What events report about one record. */
export interface ChangedRecord {
	events: CrmEvent[];
	/** Absent if there is nothing to report. */
	item: IDataObject | undefined;
	/** Whether the list does not show yet what the last event reports. */
	isBehind: boolean;
}

/** Reads the records in scope as they are now. */
export class RecordReader {
	readonly scope: RecordScope;
	private readonly api: Connection;
	private readonly parameters: ReturnType<typeof parametersOf>;
	private readonly conditions: Condition[][];
	/** The filters, with the fields to request. */
	private readonly queries: Query[];

	/** @throws Error in the user's words if the service cannot list records by id or in the order of creation, or for a filter by no field */
	constructor(api: Connection, scope: RecordScope) {
		this.api = api;
		this.scope = scope;
		this.parameters = parametersOf(scope);
		const { list, filters: { queries }, outputFields } = scope;
		this.conditions = queries.map((query) => Object.entries(query).map(([parameter, value]) => scopeCondition(scope, parameter, value)));
		const times = [list.created, list.changed].flatMap((time) => time?.field ?? []);
		const fields = outputFields && [...times, ...outputFields.map(({ path: [name] }) => name)];
		this.queries = fields ? queries.map((query) => withFields(list, query, fields)) : queries;
	}

	/**
	 * Reads the records created next in a backfill: about a page, and of several lists up to the instant to which all were read.
	 *
	 * @returns `last` for the next reading; undefined if there is nothing left to read
	 */
	async next({ last, until }: Backfill, size: number): Promise<{ records: IDataObject[]; last: Backfill['last'] }> {
		const pages = await Promise.all(this.queries.map(async (query) => await this.pageAfter(query, last, size)));
		const end = Math.min(...pages.flatMap(({ next, records }) => (next === undefined ? [] : this.createdAt(records.at(-1)!))));
		const read = this.joined(pages).filter((record) => !(this.createdAt(record) > end));
		// The log has an event of each record that was created later; in a log of whole seconds, after the second.
		const lastInstant = until === undefined ? Infinity : Date.parse(until) + (until.includes('.') ? 0 : 999);
		const records = read.filter((record) => !(this.createdAt(record) > lastInstant));
		if (end === Infinity || records.length < read.length) return { records, last: undefined };
		if (Number.isNaN(end)) throw ruleBroken(11, 'List of the records', 'They have no time of creation.');
		const created = new Date(end).toISOString();
		const ids = records.filter((record) => this.createdAt(record) === end).map(({ id }) => String(id));
		// Records of one batch share an instant, over several pages.
		return { records, last: { created, ids: created === last?.created ? [...last.ids, ...ids] : ids } };
	}

	/** The first page with other records than those of the last instant, which may fill several. */
	private async pageAfter(query: Query, last: Backfill['last'], size: number): Promise<Page> {
		const { created: from, ids = [] } = last ?? {};
		const { createdSince } = this.parameters;
		// Another list may have been read up to the millisecond of the user's bound of this one, or one before.
		const isBounded = from === undefined || Date.parse(String(query[createdSince])) >= Date.parse(from);
		const laterQuery = isBounded ? query : { ...query, [createdSince]: from };
		for (let cursor: string | undefined; ;) {
			const page = await this.sortedPage(laterQuery, size + ids.length, cursor);
			const records = page.records.filter(({ id }) => !ids.includes(String(id)));
			const isBefore = from !== undefined && records.some((record) => this.createdAt(record) < Date.parse(from));
			if (isBefore) throw ruleBroken(11, `List ${wholePath(this.scope.path)}`, `It has records that were created before ${from}, which were not requested.`);
			if (records.length > 0 || page.next === undefined) return { ...page, records };
			cursor = page.next;
		}
	}

	private readonly createdAt = (record: IDataObject): number => Date.parse(String(record[this.parameters.order]));

	/** The records of several lists, each once, in the order of creation. */
	private readonly joined = (pages: Page[]): IDataObject[] =>
		[...new Map(pages.flatMap(({ records }) => records).map((record) => [record.id, record])).values()]
			.sort((a, b) => this.createdAt(a) - this.createdAt(b));

	/** Reads the newest records, the oldest of them first. */
	async latest(limit: number): Promise<IDataObject[]> {
		const sort = `-${this.parameters.order}`;
		const pages = await Promise.all(this.queries.map(async (query) => await this.sortedPage(query, limit, undefined, sort)));
		return this.asExisting(this.joined(pages).slice(-limit));
	}

	/** Makes one item for each of these records that exists and is in scope. */
	async existing(ids: string[]): Promise<IDataObject[]> {
		const found = await this.inScope(ids);
		return this.asExisting(ids.map((id) => found.get(id)).filter((record) => record !== undefined));
	}

	/** Makes the items of records that were just read. */
	asExisting(records: IDataObject[]): IDataObject[] {
		return records.map((record): IDataObject => ({ ...this.output(record), change: 'existing' }));
	}

	/**
	 * Makes one item for each record that the events are about.
	 *
	 * @param mayLag whether a replica may answer that lags. If none may, a record that the list omits is read alone: it may be in scope nevertheless
	 */
	async changed(events: CrmEvent[], mayLag: boolean): Promise<ChangedRecord[]> {
		const eventsByRecord = new Map<string, CrmEvent[]>();
		for (const event of events) getOrCreate(eventsByRecord, String(event.data.object.id), () => []).push(event);
		const found = await this.inScope([...eventsByRecord.keys()]);
		const omitted = [...eventsByRecord].flatMap(([id, recordEvents]) => (found.has(id) || !this.wasInScope(recordEvents.at(-1)!) ? [] : [id]));
		const readAlone = await recordsById(this.api, { path: this.scope.path, list: undefined, fields: [] }, mayLag ? [] : omitted);
		return [...eventsByRecord].map(([id, recordEvents]) => {
			const [record, alone, last] = [found.get(id), readAlone.get(id), recordEvents.at(-1)!];
			const isOmitted = alone !== undefined && (this.isBehind(alone, last) || verdictOf(alone, this.conditions) !== 'no');
			const isBehind = isOmitted || (mayLag && this.isBehind(record, last));
			return { events: recordEvents, item: this.changedItem(record, recordEvents, last), isBehind };
		});
	}

	/** @returns undefined if there is nothing to report about the record */
	private changedItem(record: IDataObject | undefined, recordEvents: CrmEvent[], last: CrmEvent): IDataObject | undefined {
		const isCreated = recordEvents.some((event) => event.type.endsWith('.created'));
		if (record) return { ...this.output(record), change: isCreated ? 'created' : 'updated' };
		const { object } = last.data;
		// It has been deleted or changed since: a later event reports it.
		if (this.wasInScope(last)) return undefined;
		// An ID never changes.
		if (verdictOf({ id: object.id }, this.conditions) === 'no') return undefined;
		// A record that was never in scope was never returned. Nothing but its id is left of an erased one.
		if (!isErased(last) && recordEvents.flatMap(this.statesOf).every((state) => verdictOf(state, this.conditions) === 'no')) return undefined;
		return { ...this.output(object), change: 'deleted' };
	}

	private readonly wasInScope = (event: CrmEvent): boolean => !isGone(event) && verdictOf(event.data.object, this.conditions) === 'yes';

	/** The record before and after an event. Of its time of change, an event may have only the new one, that of a deletion included. */
	private readonly statesOf = (event: CrmEvent): IDataObject[] => {
		const { field = '' } = this.scope.list.changed ?? {};
		const [before = {}, ...after] = statesOf(event);
		const isTimeKnown = event.type.endsWith('.created') || Object.hasOwn(event.data.previous ?? {}, field);
		return [isTimeKnown ? before : withoutMembers(before, field), ...after];
	};

	private output(record: IDataObject): IDataObject {
		const { outputFields } = this.scope;
		return outputFields ? { id: record.id, ...simplify(record, outputFields) } : record;
	}

	/** Whether the list does not show yet that a record is in scope or has changed, as an event reports. */
	private isBehind(record: IDataObject | undefined, last: CrmEvent): boolean {
		const { object } = last.data;
		const changedField = this.scope.list.changed?.field ?? '';
		if (isGone(last)) return record !== undefined;
		if (!record) return verdictOf(object, this.conditions) !== 'no';
		return Date.parse(String(record[changedField])) < Date.parse(String(object[changedField]));
	}

	private async inScope(ids: string[]): Promise<Map<string, IDataObject>> {
		const { path, list } = this.scope;
		const found = new Map<string, IDataObject>();
		for (const [i, filter] of this.queries.entries()) {
			// The filter by ID takes the place of the user's.
			const idsInScope = ids.filter((id) => verdictOf({ id }, [this.conditions[i]!]) !== 'no');
			for (const chunk of chunks(idsInScope, maxIds)) {
				const query = { ...filter, [this.parameters.ids]: chunk };
				for await (const { records } of readPages(this.api.send, { path, list, query })) {
					for (const record of records) found.set(String(record.id), record);
				}
			}
		}
		return found;
	}

	private async sortedPage(query: Query, size: number, cursor?: string, sort = this.parameters.order): Promise<Page> {
		const { path, list } = this.scope;
		const pageQuery: Query = { ...query, [this.parameters.sort]: sort };
		if (list.pageSize) pageQuery[list.pageSize.name] = Math.min(size, list.pageSize.maximum);
		return await readPage(this.api.send, path, { list, query: pageQuery, cursor });
	}
}

const isGone = (event: CrmEvent): boolean => event.type.endsWith('.deleted') || isErased(event);

/** @throws Error in the user's words if a record that is not in scope could be taken for one that no longer is */
function scopeCondition({ list: { filters, changed, deleted }, fields }: RecordScope, parameter: string, value: unknown): Condition {
	const filter = filters.find(({ name }) => name === parameter);
	if (parameter === deleted?.parameter) {
		throw new Error(`Records: the trigger returns deleted records with the change “deleted”, and takes no filter “${filter?.label ?? parameter}”. Remove the filter.`);
	}
	const time = changed && new Map([[changed.since, `${changed.field}[gte]`], [changed.until, `${changed.field}[lt]`]]).get(parameter);
	const condition = conditionOf(time ?? parameter, value, filter, fields);
	// Without a description, any name may be a field.
	if (fields.length === 0 || [idField, ...fields].some(({ name }) => name === condition.field.path[0])) return condition;
	throw new Error(`Records: a record does not show whether it matches the filter “${filter?.label ?? parameter}”, so that those that never did would be reported as deleted. Remove the filter.`);
}

function parametersOf({ path, list }: RecordScope) {
	const ids = list.filters.find(({ name }) => name === 'ids')?.name;
	const { field: order, from: createdSince } = list.created ?? {};
	const hasOrders = list.sort?.values.includes(order ?? '') && list.sort.values.includes(`-${order}`);
	if (ids !== undefined && order !== undefined && createdSince !== undefined && list.sort && hasOrders) {
		return { ids, sort: list.sort.name, order, createdSince };
	}
	throw new Error(`Records: the CRM cannot list ${wholePath(path)} by ID and in order of creation. Choose Events.`);
}
