import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { allFilters, currentFields, customFieldsIfAny, type CustomFields } from '../api/customFields';
import type { Collection, Query } from '../api/http/path';
import { notReadable } from '../api/http/statuses';
import { inParallel } from '../api/inParallel';
import { filterQuery, isDivided } from '../api/lists/filterQuery';
import { readPage } from '../api/lists/pages';
import { readAll, timelineOf } from '../api/lists/parallel';
import type { ResourceDescription } from '../api/openapi/description';
import type { ListDescription } from '../api/openapi/listing';
import { undefinedIfAnsweredWith } from '../api/refusals';
import { listed } from '../base/lists';
import { getOrCreate } from '../base/maps';
import { exactNumber, isDecimal } from '../base/numbers';
import { allCustomFields, currencyName, fieldNamed, type Field } from '../fields/field';
import { isBooleanField, isNumeric, isTimeField, valueShape } from '../fields/fieldKinds';
import { withLinkedNames } from '../lookUp/linkedNames';
import { readParts } from '../lookUp/parts';
import { firstRecords, withFields } from '../lookUp/lookUp';
import { matchByName } from '../mapping/fieldNames';
import type { OutputField } from '../model';
import { defaultCursors } from '../parameters/listParameters';
import { isBlank } from '../values/blank';
import { parseMoment } from '../values/dates';
import { writableFieldsIn } from './exportColumns';
import { outputValue } from './simplify';

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
	const writable = writableFieldsIn(description, undefined);
	const standardFields = description.fields.flatMap((field) => {
		const inner = writable.filter(({ path }) => path.length > 1 && path[0] === field.name);
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
	const repeated = groupings.find(({ field, period }) => groupings.some((other) => other.field.name === field.name && other.period !== period));
	if (repeated) throw new Error(`Group By: ${repeated.field.label} can be grouped by one period only. Choose one of them, and count by the other separately.`);
	const sumOf = request.sumOf.map(fieldCalled);
	const wrong = sumOf.find((field) => !isNumeric(field) && valueShape(field) !== 'open');
	if (wrong) {
		const numeric = listed(fields.filter(isNumeric).map(({ name }) => name), 20) || 'none';
		throw new Error(`${wrong.label} has no numbers to add up. Fields with numbers: ${numeric}.`);
	}
	const currency = sumOf.some(({ name }) => name !== currencyName) ? fields.find(({ name }) => name === currencyName) : undefined;
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
): Promise<{ rows: IDataObject[]; recordsRead: number }> {
	const custom = await customFieldsIfAny(api, request.path, description.fields);
	const counting = countingOf(request, custom, countableFields(description, custom));
	const { queries: [query, ...others], maxRead = Infinity } = counting;
	const total = others.length === 0 ? await totalOf(api, counting, query!) : undefined;
	const counted = total === undefined ? undefined : await countByService(api, counting, total);
	if (counted) return { rows: await rowsOf(api, counting, counted), recordsRead: 0 };
	if (total !== undefined && total > maxRead) {
		throw new Error(`There are ${total} records, but at most ${maxRead} can be grouped or summed. Narrow them with filters.`);
	}
	const records = await readCounted(api, counting);
	if (records.length > maxRead) throw new Error(`There are more than ${maxRead} records. Narrow them with filters.`);
	const groups = countedGroups(records, counting.sumOf);
	if (groups.length === 0 && request.groupBy.length === 0) return { rows: [{ count: 0 }], recordsRead: 0 };
	return { rows: await rowsOf(api, counting, groups), recordsRead: records.length };
}

/** A row for each group: the values that its records share, with the names of linked records, and its figures. */
async function rowsOf(api: Connection, { groupings, sumOf }: Counting, groups: CountedGroup[]): Promise<IDataObject[]> {
	const sorted = orderedGroups(groups, groupings.map(({ period }) => period !== undefined));
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

/** @returns undefined if the records have to be read, or if their groups do not add up to the whole list */
async function countByService(api: Connection, counting: Counting, total: number): Promise<CountedGroup[] | undefined> {
	const { groupings: [grouping, ...others], sumOf } = counting;
	if (sumOf.length > 0 || others.length > 0 || grouping?.period !== undefined) return undefined;
	if (!grouping) return [{ values: [], count: total, numbers: [] }];
	const queries = await queriesByValue(api, counting, grouping.field, total);
	if (!queries) return undefined;
	const counts = await inParallel(queries, async ([, query]) => (await totalOf(api, counting, query)) ?? NaN);
	if (counts.reduce((sum, count) => sum + count, 0) !== total) return undefined;
	return queries.flatMap(([value], i) => (counts[i]! > 0 ? [{ values: [value], count: counts[i]!, numbers: [] }] : []));
}

/** The query for each value of a field; undefined if it cannot be filtered by them, or if reading takes fewer requests. */
async function queriesByValue(
	api: Connection,
	{ list, queries: [query = {}], custom }: Counting,
	field: Field,
	total: number,
): Promise<Array<[value: unknown, query: Query]> | undefined> {
	const filters = allFilters(list, currentFields(custom));
	const filter = filters.find(({ name }) => name === field.name);
	if (!filter || !['single', 'open'].includes(valueShape(field))) return undefined;
	const chosen = query[filter.name];
	const most = Math.max(20, total / (list.pageSize?.maximum ?? 1));
	const values = chosen === undefined ? await valuesOf(api, field, filter, most) : [chosen].flat();
	if (!values || values.length > most) return undefined;
	const isList = valueShape(filter) === 'list';
	if (isList && values.some((value) => isDivided(String(value)))) return undefined;
	const queryOf = (value: unknown): Query => ({ ...query, ...(filterQuery(filter, isList ? [value] : value) as Query) });
	const byValue = values.map((value): [unknown, Query] => [value, queryOf(value)]);
	const empty = filters.find(({ name }) => name === `${field.name}[empty]`);
	return empty && chosen === undefined ? [...byValue, [null, { ...query, [empty.name]: true }]] : byValue;
}

/** The values of a field; undefined if they are unknown, or may not be read. @param most if there are more, not all are returned */
async function valuesOf(
	api: Connection, { kind, choices, target, part }: Field, filter: Field, most: number,
): Promise<unknown[] | undefined> {
	const listedChoices = filter.choices ?? choices;
	if (listedChoices) return listedChoices.map(({ value }) => value);
	if (isBooleanField({ kind })) return [true, false];
	if (target === undefined) return undefined;
	const reading = part === undefined ? firstRecords(api, target, Math.floor(most) + 1) : readParts(api, target, part);
	return (await reading.catch(undefinedIfAnsweredWith(...notReadable)))?.map(({ id }) => id);
}

/** Reads the records with only the necessary fields, each once. */
async function readCounted(api: Connection, { path, list, queries, groupings, sumOf, zone }: Counting): Promise<CountedRecord[]> {
	const needed = [...groupings.map(({ field }) => field), ...sumOf].map(({ path: [member = ''] }) => member);
	const lists = await Promise.all(queries.map(async (query) => {
		const timeline = timelineOf({ list, query });
		const narrowed = withFields(list, query, [...needed, ...(timeline ? [timeline.field] : [])]);
		const listQuery = { path, list, query: narrowed, cursors: defaultCursors };
		return await readAll(api.send, listQuery, (record): CountedRecord => ({
			id: record.id,
			values: groupings.map((grouping) => groupValuesIn(record, grouping, zone)),
			numbers: sumOf.map((field) => valueOf(record, field)),
		}));
	}));
	return [...new Map(lists.flat().map((record) => [record.id, record])).values()];
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

/** A record as far as it is counted: its value for each grouping, or several, and the numbers to add up. */
interface CountedRecord {
	id: unknown;
	values: unknown[][];
	numbers: unknown[];
}

/** A group of records: the values that they share, their number, and the numbers to add up, in millionths, so that adding is exact. */
interface CountedGroup {
	values: unknown[];
	count: number;
	numbers: bigint[][];
}

/** A record with several values belongs to the group of each. @throws Error in the user's words if a value to add up is not a number */
function countedGroups(records: Iterable<CountedRecord>, sumOf: Field[]): CountedGroup[] {
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

/** In the order of *Group By*, each period in its order; without periods, the one with the largest sum or count first. */
function orderedGroups(groups: CountedGroup[], arePeriods: boolean[]): CountedGroup[] {
	const weighted = groups.map((group) => ({ ...group, weight: group.numbers[0] ? sumIn(group.numbers[0]) : BigInt(group.count) }));
	const byWeight = weighted.sort((a, b) => Number(b.weight - a.weight));
	if (!arePeriods.includes(true)) return byWeight;
	const ranks = arePeriods.map((isPeriod, i) => {
		const texts = [...new Set(byWeight.map(({ values }) => String(values[i])))];
		return new Map((isPeriod ? texts.sort() : texts).map((text, rank) => [text, rank]));
	});
	const difference = (a: CountedGroup, b: CountedGroup, i: number) => ranks[i]!.get(String(a.values[i]))! - ranks[i]!.get(String(b.values[i]))!;
	return byWeight.sort((a, b) => ranks.map((_, i) => difference(a, b, i)).find((each) => each !== 0) ?? 0);
}

/** The count and the totals of a group, named as by n8n's Summarize node. */
const figuresOf = ({ count, numbers }: CountedGroup, sumOf: Field[]): IDataObject =>
	Object.assign({ count }, ...numbers.map((some, i) => totalsOf(sumOf[i]!, some))) as IDataObject;

function totalsOf({ name }: Field, numbers: bigint[]): IDataObject {
	const [sum, count] = [sumIn(numbers), BigInt(numbers.length)];
	const average = count === 0n ? undefined : (sum + (sum < 0n ? -count : count) / 2n) / count;
	const [min, max] = numbers.length === 0 ? [] : [numbers.reduce((a, b) => (b < a ? b : a)), numbers.reduce((a, b) => (b > a ? b : a))];
	const totals = { sum, average, min, max };
	return Object.fromEntries(Object.entries(totals).map(([figure, value]) => [`${figure}_${name}`, exactly(value)]));
}

/** A sum as a number or, if JavaScript would round it, as the text of its digits. */
function exactly(sum: bigint | undefined): number | string | null {
	if (sum === undefined) return null;
	const digits = (sum < 0n ? -sum : sum).toString().padStart(7, '0');
	const text = `${sum < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '');
	return exactNumber(text) ?? text;
}
