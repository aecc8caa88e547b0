import type { IDataObject } from 'n8n-workflow';

import { currentFields, customFieldsIfAny, customFilters, type CustomFields } from '../api/customFields';
import type { Connection } from '../api/connection';
import type { Collection, Query } from '../api/http/path';
import { notReadable } from '../api/http/statuses';
import { inParallel } from '../api/inParallel';
import { filterQuery } from '../api/lists/filterQuery';
import { readPage } from '../api/lists/pages';
import { readAll } from '../api/lists/parallel';
import { timelineOf } from '../api/lists/timeline';
import type { ResourceDescription } from '../api/openapi/description';
import type { ListDescription } from '../api/openapi/listing';
import { isAnsweredWith } from '../api/record';
import { errorOf } from '../base/errorOf';
import { getOrCreate } from '../base/maps';
import { exactNumber, isDecimal } from '../base/numbers';
import { allCustomFields, fieldNamed, type Field } from '../fields/field';
import { isBooleanField, isNumeric, isTimeField, valueShape } from '../fields/fieldKinds';
import { withLinkedNames } from '../lookUp/linkedNames';
import { withFields } from '../lookUp/lookUp';
import { matchByName } from '../mapping/fieldNames';
import { readParts } from '../lookUp/parts';
import { defaultCursors } from '../parameters/listParameters';
import { listed } from '../base/lists';
import { isBlank } from '../values/blank';
import { parseMoment } from '../values/dates';
import { writtenFields } from './exportColumns';
import { outputValue, type OutputField } from './simplify';

/** The lengths of time by which records are grouped, the default first. */
export const periods = ['day', 'week', 'month'] as const;

/** A field to group by; times are grouped by period. */
interface Grouping {
	field: Field;
	period: (typeof periods)[number] | undefined;
}

/** What to count, and what to add up, by the names of fields. */
interface CountRequest {
	path: Collection;
	list: ListDescription;
	/** The records of any of these queries are counted. */
	queries: Query[];
	/** Of times with a period, such as `created_at:month`. */
	groupBy: string[];
	sumOf: string[];
	zone: string;
	maxRead?: number;
}

/** The same, with the fields. */
interface Counting extends Omit<CountRequest, 'groupBy' | 'sumOf'> {
	custom: CustomFields | undefined;
	/** Sums are added up for each currency, if records have one. */
	groupings: Grouping[];
	sumOf: Field[];
}

/** The fields of a record that can be grouped by or added up: members of objects and custom fields one by one. */
export function countableFields(description: ResourceDescription, custom: CustomFields | undefined): Field[] {
	const written = writtenFields(description, undefined);
	const standardFields = description.fields.flatMap((field) => {
		const inner = written.filter(({ path }) => path.length > 1 && path[0] === field.name);
		return inner.length > 0 ? inner : [field];
	});
	return [...standardFields.filter(({ name }) => name !== allCustomFields), ...currentFields(custom)];
}

/** @throws Error in the user's words for a field that records do not have, and to sum one without numbers */
function countingOf(request: CountRequest, custom: CustomFields | undefined, fields: Field[]): Counting {
	const fieldCalled = (name: string) => (fields.length === 0 ? fieldNamed(name, { kind: 'any' }) : matchByName(fields, name, 'field'));
	const groupings = request.groupBy.map((text): Grouping => {
		const [, name = text, period] = new RegExp(`^(.+):(${periods.join('|')})$`).exec(text) ?? [];
		const field = fieldCalled(name);
		return { field, period: isTimeField(field) ? ((period ?? periods[0]) as Grouping['period']) : undefined };
	});
	const sumOf = request.sumOf.map(fieldCalled);
	const wrong = sumOf.find((field) => !isNumeric(field) && valueShape(field) !== 'open');
	if (wrong) {
		const numeric = listed(fields.filter(isNumeric).map(({ name }) => name), 20) || 'none';
		throw new Error(`${wrong.label} has no numbers to add up. Fields with numbers: ${numeric}.`);
	}
	const currency = sumOf.some(({ name }) => name !== 'currency') ? fields.find(({ name }) => name === 'currency') : undefined;
	return { ...request, custom, sumOf, groupings: currency ? [...groupings, { field: currency, period: undefined }] : groupings };
}

/**
 * Counts records by group, and adds up numbers. Counts come from the totals of the service's lists if one field with few
 * values divides the records; otherwise, the records are read with only the necessary fields. A record whose field has
 * several values counts in the group of each.
 *
 * @returns a row for each group, and the number of records that were read
 * @throws Error in the user's words if a value to add up is not a number, or if too many records would be read
 */
export async function countRecords(
	api: Connection,
	description: ResourceDescription,
	request: CountRequest,
): Promise<{ rows: IDataObject[]; read: number }> {
	const custom = await customFieldsIfAny(api, request.path, description.fields);
	const counting = countingOf(request, custom, countableFields(description, custom));
	const { groupings, sumOf, maxRead = Infinity } = counting;
	const [query, ...others] = counting.queries;
	const total = others.length === 0 ? await totalOf(api, counting, query!) : undefined;
	const needsNoValues = total !== undefined && sumOf.length === 0;
	if (needsNoValues && groupings.length === 0) return { rows: [{ count: total }], read: 0 };
	const counted = needsNoValues ? await countByService(api, counting, total) : undefined;
	if (!counted && total !== undefined && total > maxRead) {
		throw new Error(`There are ${total} records, but at most ${maxRead} can be grouped or summed. Narrow them with filters.`);
	}
	const { read, groups } = counted ? { read: 0, groups: counted } : await countByReading(api, counting);
	if (groups.length === 0 && request.groupBy.length === 0) return { rows: [{ count: 0 }], read };
	return { rows: await rowsOf(api, counting, groups), read };
}

/** A row for each group: the values that its records share, with the names of linked records, and its figures. */
async function rowsOf(api: Connection, { groupings, sumOf }: Counting, groups: CountedGroup[]): Promise<IDataObject[]> {
	const sorted = orderedGroups(groups, groupings[0]?.period !== undefined);
	const fields = groupings.map(({ field }) => field);
	const rows = sorted.map(({ values }) => Object.fromEntries(fields.map(({ name }, i) => [name, values[i]])) as IDataObject);
	const named = await withLinkedNames(api, fields, rows, true);
	return sorted.map((group, i) => ({ ...named[i]!, ...figuresOf(group, sumOf) }));
}

/** The number of records in the list, if the service reports it. */
async function totalOf(api: Connection, { path, list }: Counting, query: Query): Promise<number | undefined> {
	const size = list.pageSize ? { [list.pageSize.name]: 1 } : {};
	return (await readPage(api.send, path, { list, query: withFields(list, { ...query, ...size }, []) })).total;
}

/** @returns undefined if the groups are unknown or too many, or do not add up to the whole list */
async function countByService(api: Connection, counting: Counting, total: number): Promise<CountedGroup[] | undefined> {
	const queries = await queriesByValue(api, counting, total);
	if (!queries) return undefined;
	const counts = await inParallel(queries, async ([, query]) => (await totalOf(api, counting, query)) ?? NaN);
	if (counts.reduce((sum, count) => sum + count, 0) !== total) return undefined;
	return queries.flatMap(([value], i) => (counts[i]! > 0 ? [{ values: [value], count: counts[i]!, numbers: [] }] : []));
}

/** The query for each value of the only grouping; undefined if another way is needed, or takes fewer requests. */
async function queriesByValue(
	api: Connection,
	{ list, queries: [query = {}], groupings: [grouping, ...others], custom }: Counting,
	total: number,
): Promise<Array<[value: unknown, query: Query]> | undefined> {
	const { field, period } = grouping!;
	if (others.length > 0 || period !== undefined || !['single', 'open'].includes(valueShape(field))) return undefined;
	const filters = [...list.filters, ...customFilters(list, currentFields(custom))];
	const filter = filters.find(({ name }) => name === field.name);
	if (!filter) return undefined;
	const chosen = query[filter.name];
	const values = chosen === undefined ? await valuesOf(api, field, filter) : [chosen].flat();
	const isWorthIt = values !== undefined && values.length <= Math.max(20, total / (list.pageSize?.maximum ?? 1));
	if (!isWorthIt) return undefined;
	const isList = valueShape(filter) === 'list';
	const queryOf = (value: unknown): Query => ({ ...query, ...(filterQuery(filter, isList ? [value] : value) as Query) });
	const byValue = values.map((value): [unknown, Query] => [value, queryOf(value)]);
	const empty = filters.find(({ name }) => name === `${field.name}[empty]`);
	return empty && chosen === undefined ? [...byValue, [null, { ...query, [empty.name]: true }]] : byValue;
}

/** All values that a field can have; undefined if they are many, unknown, or may not be read. */
async function valuesOf(api: Connection, { kind, choices, collection, part }: Field, filter: Field): Promise<unknown[] | undefined> {
	const listedChoices = filter.choices ?? choices;
	if (listedChoices) return listedChoices.map(({ value }) => value);
	if (isBooleanField({ kind })) return [true, false];
	if (collection === undefined) return undefined;
	const reading = part === undefined ? idsOf(api, collection) : readParts(api, collection, part).then((parts) => parts.map(({ id }) => id));
	return isAnsweredWith(await errorOf(reading), ...notReadable) ? undefined : await reading;
}

/** The ids of the records of a collection, if they fit into a page. */
async function idsOf(api: Connection, collection: Collection): Promise<unknown[] | undefined> {
	const list = (await api.describe(collection))?.list;
	if (!list) return undefined;
	const size = list.pageSize ? { [list.pageSize.name]: list.pageSize.maximum } : {};
	const { records, next } = await readPage(api.send, collection, { list, query: withFields(list, size, []) });
	return next === undefined ? records.map(({ id }) => id) : undefined;
}

/** Reads the records with only the necessary fields. */
async function countByReading(api: Connection, counting: Counting): Promise<{ read: number; groups: CountedGroup[] }> {
	const { path, list, queries, groupings, sumOf, zone, maxRead = Infinity } = counting;
	const needed = [...groupings.map(({ field }) => field), ...sumOf].map(({ path: [member = ''] }) => member);
	const lists = await Promise.all(queries.map(async (query) => {
		const timeline = timelineOf({ list, query });
		const narrowed = withFields(list, query, [...needed, ...(timeline ? [timeline.field] : [])]);
		const reading = { path, list, query: narrowed, cursors: defaultCursors };
		return await readAll(api.send, reading, (record): CountedRecord => ({
			id: record.id,
			values: groupings.map((grouping) => groupValuesIn(record, grouping, zone)),
			numbers: sumOf.map((field) => valueOf(record, field)),
		}));
	}));
	const recordsById = new Map(lists.flatMap((records) => records.map((record) => [record.id, record] as const)));
	if (recordsById.size > maxRead) throw new Error(`There are more than ${maxRead} records. Narrow them with filters.`);
	return { read: recordsById.size, groups: countedGroups(recordsById.values(), sumOf) };
}

/** A record as far as it is counted: its value for each grouping, or several, and the numbers to add up. */
interface CountedRecord {
	id: unknown;
	values: unknown[][];
	numbers: unknown[];
}

const valueOf = (record: IDataObject, { path }: Field): unknown => outputValue(record, path as OutputField['path']);

/** The values by which a record is grouped; of times, their first days. */
function groupValuesIn(record: IDataObject, { field, period }: Grouping, zone: string): unknown[] {
	const values = [valueOf(record, field)].flat().map((value) => (isBlank(value) ? null : value));
	const inPeriods = period === undefined ? values : values.map((value) => (value === null ? null : firstDay(String(value), period, zone)));
	return inPeriods.length === 0 ? [null] : [...new Set(inPeriods)];
}

const firstDay = (time: string, period: NonNullable<Grouping['period']>, zone: string): string =>
	parseMoment(time, zone)?.setZone(zone).startOf(period).toISODate() ?? time;

/** A group of records: the values that they share, their number, and the numbers to add up, in millionths, so that adding is exact. */
interface CountedGroup {
	values: unknown[];
	count: number;
	numbers: bigint[][];
}

/**
 * The groups of records; one with several values belongs to the group of each.
 *
 * @throws Error in the user's words if a value to add up is not a number
 */
export function countedGroups(records: Iterable<CountedRecord>, sumOf: Field[]): CountedGroup[] {
	const groups = new Map<string, CountedGroup>();
	for (const { values, numbers } of records) {
		const combinations = values.reduce<unknown[][]>((all, some) => all.flatMap((before) => some.map((value) => [...before, value])), [[]]);
		for (const combination of combinations) {
			const newGroup = (): CountedGroup => ({ values: combination, count: 0, numbers: sumOf.map(() => []) });
			const group = getOrCreate(groups, JSON.stringify(combination), newGroup);
			group.count += 1;
			for (const [i, field] of sumOf.entries()) if (!isBlank(numbers[i])) group.numbers[i]!.push(millionths(field, numbers[i]));
		}
	}
	return [...groups.values()];
}

/** @throws Error in the user's words if the value is not a number */
function millionths(field: Field, value: unknown): bigint {
	const text = String(value).trim();
	// Texts that look like numbers may be phone numbers.
	const mayBeNumber = typeof value === 'number' || (typeof value === 'string' && isNumeric(field));
	const isNumber = mayBeNumber && isDecimal(text) && Number.isFinite(Number(text));
	if (!isNumber) throw new Error(`${field.label} has no numbers to add up. Choose a field with numbers.`);
	const digits = /e/i.test(text) ? Number(text).toLocaleString('en', { useGrouping: false, maximumFractionDigits: 6 }) : text;
	const [integerPart = '', fraction = ''] = digits.split('.');
	return BigInt(integerPart + fraction.slice(0, 6).padEnd(6, '0'));
}

const sumIn = (numbers: bigint[]): bigint => numbers.reduce((sum, number) => sum + number, 0n);

/** The groups in the order of their periods; without periods, the one with the largest sum or count first. */
function orderedGroups(groups: CountedGroup[], isByPeriod: boolean): CountedGroup[] {
	const weighted = groups.map((group) => ({ ...group, weight: group.numbers[0] ? sumIn(group.numbers[0]) : BigInt(group.count) }));
	return weighted.sort((a, b) => {
		const [first, second] = [a.values[0], b.values[0]];
		if (isByPeriod && first !== second) return String(first) < String(second) ? -1 : 1;
		return Number(b.weight - a.weight);
	});
}

/** The count and the totals of a group, named as by n8n's Summarize node. */
export const figuresOf = ({ count, numbers }: CountedGroup, sumOf: Field[]): IDataObject =>
	Object.assign({ count }, ...numbers.map((some, i) => totalsOf(sumOf[i]!, some))) as IDataObject;

function totalsOf({ name }: Field, numbers: bigint[]): IDataObject {
	const [sum, count] = [sumIn(numbers), BigInt(numbers.length)];
	const average = count === 0n ? undefined : (sum + (sum < 0n ? -count : count) / 2n) / count;
	const [least, most] = numbers.length === 0 ? [] : [numbers.reduce((a, b) => (b < a ? b : a)), numbers.reduce((a, b) => (b > a ? b : a))];
	const totals = { sum, average, min: least, max: most };
	return Object.fromEntries(Object.entries(totals).map(([figure, value]) => [`${figure}_${name}`, exactly(value)]));
}

/** A sum as a number or, if JavaScript would round it, as the text of its digits. */
function exactly(sum: bigint | undefined): number | string | null {
	if (sum === undefined) return null;
	const digits = (sum < 0n ? -sum : sum).toString().padStart(7, '0');
	const text = `${sum < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '');
	return exactNumber(text) ?? text;
}
