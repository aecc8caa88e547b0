import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { getOrCreate, groupedBy } from '../base/maps';
import type { Query } from '../api/http/path';
import { breaksRule } from '../api/http/rules';
import { verdictOf, type Condition } from '../fields/condition';
import { idField, type Field } from '../fields/field';
import { listNameOf, matchKey, valueIn, type ComparedField } from '../fields/keys';
import {
	foundIn, lookUp, valuesPerRequest, type LookedUp, readWholeList, wholeListIfShort, type RecordList, type IdentifiedRecord,
} from '../lookUp/lookUp';
import { isBlank } from '../values/blank';
import type { SyncSettings } from './settings';
import type { SourceRecord } from './syncSource';

/** A record of the CRM: the fields that are compared, its id, and its version. */
export type CrmRecord = IdentifiedRecord;

/** The names of the fields that are compared, those to match on, and the version. */
export function comparedFields({ match, rules, unique, recordFields, changedField }: SyncSettings, sourceRecords: SourceRecord[]): string[] {
	const names = new Set(['id', 'version', ...match.map(({ path: [name = ''] }) => name), ...Object.keys(rules.valuesToSet ?? {})]);
	if (rules.bothChanged === 'latest') names.add(changedField);
	for (const { values } of sourceRecords) for (const name of Object.keys(values)) names.add(name);
	for (const field of unique) {
		const [name = '', list] = [field.path[0], listNameOf(field)];
		if (names.has(list)) names.add(name);
		// A record may have the value in its list only.
		else if (names.has(name) && recordFields.has(list) && rules.missingInSource !== 'leave') names.add(list);
	}
	return [...names].filter((name) => name === 'id' || recordFields.size === 0 || recordFields.has(name));
}

/**
 * Reads the records in scope: all of them if any may be missing in the source, otherwise those with a key of the source.
 *
 * @param compared the names of the fields to read, besides those that the scope needs
 */
export async function readCrmRecords(settings: SyncSettings, sourceRecords: SourceRecord[], compared: string[]): Promise<CrmRecords> {
	const { rules, match, scopeQuery, conditions, recordFields } = settings;
	const namesOfScope = conditions.flatMap(({ field }) => [field.path[0] ?? '', listNameOf(field)]);
	const others = [...namesOfScope, ...(rules.missingInSource === 'delete' ? ['deleted_at'] : [])];
	const recordList = { ...settings.recordList, fields: [...compared, ...others.filter((name) => recordFields.has(name))] };
	const valuesOf = (field: Field, i: number): unknown[] =>
		sourceRecords.flatMap(({ keys, values }) => (keys[i] === undefined ? [] : [field === idField ? keys[i] : valueIn(values, field)]));
	const crm = rules.missingInSource === 'leave'
		? await findRecords(recordList, match.map((field, i) => ({ field, values: valuesOf(field, i) })), scopeQuery)
		: new CrmRecords(await readWholeList(recordList, scopeQuery), scopeQuery);
	refuseOutsiders(crm.records, conditions, recordFields);
	return crm;
}

interface ValuesToFind {
	field: ComparedField;
	values: unknown[];
}

/**
 * Finds the records in scope that have one of the values, with as few requests as possible: by filters, or by reading the
 * whole list. No record has a value that the service refuses as a filter, since it refuses to write such a value, too.
 *
 * @throws Error in the user's words
 */
async function findRecords(list: RecordList, toFind: ValuesToFind[], scopeQuery: Query = {}): Promise<CrmRecords> {
	const recordList = { ...list, fields: [...list.fields, ...toFind.map(({ field: { path: [name = ''] } }) => name)] };
	const readAll = async () => new CrmRecords(await readWholeList(recordList, scopeQuery), scopeQuery);
	const keysToFind = toFind.filter(({ values }) => values.length > 0);
	// A filter takes the place of one in the scope.
	const isFilterable = ({ field }: ValuesToFind) => valuesPerRequest(recordList, field) > 0 && scopeQuery[field === idField ? 'ids' : field.name] === undefined;
	if (!keysToFind.every(isFilterable)) return await readAll();
	const requests = keysToFind.reduce((sum, { field, values }) => sum + Math.ceil(values.length / valuesPerRequest(recordList, field)), 0);
	const all = await wholeListIfShort(recordList.api, recordList, requests, scopeQuery);
	if (all) return new CrmRecords(all, scopeQuery);

	const found = new Map<string, CrmRecord>();
	const lookUps = new Map<string, LookedUp>();
	for (const { field, values } of keysToFind) {
		const resultOf = await lookUp(recordList, field, values, scopeQuery);
		lookUps.set(field.name, resultOf);
		for (const result of values.map(resultOf)) {
			if ('failed' in result) return await readAll();
			for (const record of foundIn(result)) found.set(record.id, record);
		}
	}
	return new CrmRecords([...found.values()], scopeQuery, lookUps);
}

/**
 * Refuses records outside the scope: the service ignores a filter, and other records could be changed or deleted.
 *
 * @param recordFields the members of records; if one of the records has another one, those without it have no value
 * @throws Error in the user's words
 */
export function refuseOutsiders(records: readonly IDataObject[], conditions: Condition[], recordFields: ReadonlySet<string>): void {
	for (const condition of conditions) {
		const { field } = condition;
		const isAlwaysListed = recordFields.has(field.path[0] ?? '') || records.some((record) => valueIn(record, field) !== undefined);
		const outsider = records.find((record) => verdictOf(record, [[{ ...condition, isAlwaysListed }]]) === 'no');
		if (outsider) throw new Error(outside(field, String(outsider.id), valueIn(outsider, field)));
	}
}

const outside = ({ label }: Condition['field'], id: string, value: unknown) =>
	`Records in Scope: the CRM returned record ${id}, whose ${label} is ${isBlank(value) ? 'empty' : `“${String(isObject(value) ? JSON.stringify(value) : value).slice(0, 100)}”`}, which the filter excludes. ${breaksRule(11)} Nothing was written. Choose another filter, and report it to the CRM’s support.`;

/** The records of the CRM in scope, by their keys. */
export class CrmRecords {
	readonly records: readonly CrmRecord[];
	private readonly scopeQuery: Query;
	private readonly lookUps: ReadonlyMap<string, LookedUp> | undefined;
	private readonly indexes = new Map<string, ReturnType<typeof groupedBy<CrmRecord>>>();

	/**
	 * @param records perhaps also some without any of the values that were looked up
	 * @param lookUps by field, if the records were looked up by values; otherwise, they are the whole list
	 */
	constructor(records: readonly CrmRecord[], scopeQuery: Query, lookUps?: ReadonlyMap<string, LookedUp>) {
		this.records = records;
		this.scopeQuery = scopeQuery;
		this.lookUps = lookUps;
	}

	/** The records with a key; none for an undefined one. */
	find(field: ComparedField, key: string | undefined): readonly CrmRecord[] {
		const index = getOrCreate(this.indexes, field.name, () => groupedBy(this.records, (record) => matchKey(field, valueIn(record, field))));
		return key === undefined ? [] : index(key);
	}

	/** The ids of the records, in scope and outside, that have each value: as these records show, or looked up if possible. */
	async holdersOf(values: Array<{ field: ComparedField; value: unknown }>, recordList: RecordList): Promise<string[][]> {
		const holders = values.map(({ field, value }) => this.knownHoldersOf(field, value));
		const unclear = values.filter(({ field }, i) => holders[i] === undefined && (field === idField || valuesPerRequest(recordList, field) > 0));
		const toFind = [...new Set(unclear.map(({ field }) => field))]
			.map((field) => ({ field, values: unclear.flatMap((other) => (other.field === field ? [other.value] : [])) }));
		const others = await findRecords({ ...recordList, fields: [] }, toFind);
		return values.map(({ field, value }, i) => holders[i] ?? others.knownHoldersOf(field, value) ?? []);
	}

	/** The ids of the records that have a value; undefined if it is not known, as for records outside the scope. */
	private knownHoldersOf(field: ComparedField, value: unknown): string[] | undefined {
		if (Object.keys(this.scopeQuery).length > 0) return undefined;
		if (!this.lookUps) return this.find(field, matchKey(field, value)).map(({ id }) => id);
		const result = this.lookUps.get(field.name)?.(value);
		return result && !('failed' in result) ? foundIn(result).map(({ id }) => id) : undefined;
	}
}
