import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { allFilters, currentFields, readCustomFields } from '../api/customFields';
import { collectionName, type Query } from '../api/http/path';
import { filterQuery } from '../api/lists/filterQuery';
import {
	type FilteredField,
	filteredFields,
	type FilterOperator,
	filterOperators,
	isInstant,
	isRange,
	operatorsOf,
	wholeDayBound,
} from '../api/openapi/filterOperators';
import type { ListDescription } from '../api/openapi/listing';
import { isToolCall } from '../api/toolNode';
import { chunks, listed } from '../base/lists';
import { setMember } from '../base/ownMembers';
import { orThrow, resultsOrErrors } from '../base/results';
import { comparedBy, type Comparison } from '../fields/condition';
import { whyRefused } from '../fields/checks';
import { apiValue } from '../fields/convertValue';
import { customFieldPrefix, type ConvertedValue, type Field } from '../fields/field';
import { valueShape } from '../fields/fieldKinds';
import { asId } from '../lookUp/names';
import type { ReadingRun } from '../model';
import { isBlank, hasOnlyBlanks } from '../values/blank';
import { parseOption } from '../values/parsers';
import { nextDay, parseMoment, startOfDay } from '../values/dates';
import { Evaluation } from './expressions/evaluation';
import { isFilledByModel } from './expressions/template';
import { findNamedRecords, type LinkResults, replaceNames } from './resolveLinks';
import { isFromList, locatorValue, storedParameter } from './locator';
import { commonCollection } from './sameForAll';

/** A row of the user's filters, as stored in the workflow: expressions are not evaluated. */
export type FilterRow = Partial<Record<RowParameter | 'join', unknown>>;

const rowParameters = ['field', 'operator', 'value', 'secondValue', 'choices', 'date', 'secondDate', 'record'] as const;
type RowParameter = (typeof rowParameters)[number];

/** What rows joined by Or say: a record must match all filters of one alternative. A single one may have no filters. */
type Alternatives = [ConvertedValue[], ...ConvertedValue[][]];

/**
 * Reads the filters of a list from the rows of `parameter`, including filters by custom fields. Names of records are
 * replaced by their ids. Filters are never ignored: that would list more records than intended, perhaps for a node that
 * deletes them. The exception is a value that the model leaves empty in a tool call: a model has to fill in every parameter.
 *
 * @param mayLeaveOut who may leave a filter without a value
 * @returns for each item its alternatives; or why it cannot be read, in the user's words: it has a filter that the service
 * does not have, or one without a value
 */
export async function readFilters(
	run: ReadingRun,
	parameter: string,
	list: ListDescription,
	mayLeaveOut: 'model' | 'nobody' = 'model',
): Promise<Array<Alternatives | Error>> {
	const { n8n, api } = run;
	const alternatives = storedAlternatives(n8n, parameter);
	const rows = alternatives.flat();
	const evaluation = new Evaluation(n8n, rows.flatMap((row, i) =>
		rowParameters.map((name) => ({ label: `Filter ${i + 1}`, value: locatorValue(row[name]) }))));
	const leftOut = new Set<string>();
	const conversion: FilterConversion = {
		fields: await filteredFieldsByName(run, list, rows),
		zone: n8n.getTimezone(),
		// Only in tool calls: otherwise, n8n returns the default of $fromAI.
		mayBeEmpty: mayLeaveOut === 'model' && isToolCall(n8n),
		leftOut,
	};
	const converted = await resultsOrErrors(n8n.getInputData().length, (item): ConvertedValue[][] => {
		const evaluated = chunks(evaluation.valuesOf(item), rowParameters.length).map(evaluatedRow);
		return alternatives.map((joined) => joined.flatMap((row) => filtersOfRow(row, evaluated[rows.indexOf(row)]!, conversion)));
	});
	const named = await findNamedRecords({ ...run, linkChecks: 'names' }, converted.map((item) => (item instanceof Error ? [] : item.flat())));
	return await resultsOrErrors(converted.length, (item): Alternatives => {
		// One whose values a model has left out is no alternative: it would list everything.
		const filled = orThrow(converted[item]!).filter((filters) => filters.length > 0);
		const [first = [], ...others] = filled.map((filters) => filtersWithIds(run, filters, named));
		if (first.length === 0 && rows.length > 0) api.notices.add(unfiltered);
		else if (leftOut.size > 0) api.notices.add(`${leftEmpty} these filters empty, so they were not applied: ${listed([...leftOut])}.`);
		return [first, ...others];
	});
}

/** A query for each alternative: the records of any of them are meant. @throws the error of an item that cannot be read */
export const queriesOf = (alternatives: Alternatives | Error): Query[] => orThrow(alternatives).map(queryOfFilters);

/** The rows of a parameter, of which each Or begins an alternative. @throws Error in the user's words if an expression joins rows */
function storedAlternatives(n8n: IExecuteFunctions, parameter: string): FilterRow[][] {
	const alternatives: FilterRow[][] = [];
	for (const row of storedParameter(n8n, `${parameter}.rows`, []) as FilterRow[]) {
		const join = parseOption('And / Or', row.join, ['and', 'or'], { otherwise: 'and' });
		if (join === 'or' || alternatives.length === 0) alternatives.push([]);
		alternatives.at(-1)!.push(row);
	}
	return alternatives;
}

/** @param results of `rowParameters` */
function evaluatedRow(results: unknown[]): FilterRow {
	const row: FilterRow = Object.fromEntries(rowParameters.map((name, i) => [name, results[i]]));
	return { ...row, record: locatorValue(row.record) };
}

/** The fields to filter by. Each filter is also a field with its whole name: `created_at[gte]`. */
async function filteredFieldsByName(run: ReadingRun, list: ListDescription, rows: FilterRow[]): Promise<Map<string, FilteredField>> {
	// An expression may return any name.
	const mayBeCustom = rows.some(({ field }) => ['=', customFieldPrefix].some((start) => String(field).startsWith(start)));
	const custom = list.takesCustomFields && mayBeCustom ? await readCustomFields(run.api, commonCollection(run)) : undefined;
	const filters = allFilters(list, currentFields(custom));
	const byWholeName = filters.map((filter): FilteredField => ({ ...filter, filters: new Map([['is', filter]]) }));
	return new Map([...byWholeName, ...filteredFields(filters)].map((field) => [field.name, field]));
}

interface FilterConversion {
	fields: Map<string, FilteredField>;
	zone: string;
	/** Whether a model may leave values empty. */
	mayBeEmpty: boolean;
	/** The filters that it has left without a value. */
	leftOut: Set<string>;
}

/** @throws Error in the user's words for a filter that the service does not have, and for one without a value */
function filtersOfRow(stored: FilterRow, row: FilterRow, conversion: FilterConversion): ConvertedValue[] {
	const { fields, mayBeEmpty } = conversion;
	const field = fieldOf(row, fields);
	if (stored.operator !== undefined && isBlank(row.operator)) {
		throw new Error(`${field.label}: the filter’s operator is empty because its expression returned nothing. Choose an operator, or correct the expression.`);
	}
	const operator = operatorOf(field, String(row.operator ?? 'is'));
	const names = parametersOf(operator);
	const empty = names.slice(0, isRange(operator) ? 2 : 1).filter((name) => isBlank(row[name]));
	if (!empty.every((name) => mayBeEmpty && isFilledByModel(locatorValue(stored[name])))) throw noFilterValue(field);
	const isHalf = isRange(operator) && empty.length === 1;
	if (empty.length > 0) conversion.leftOut.add(isHalf ? `${field.label} (${empty[0] === names[0] ? 'lower bound' : 'upper bound'})` : field.label);
	return operator.filters.flatMap(([comparison, taken]): ConvertedValue[] => {
		if (typeof taken === 'boolean') return [{ field: field.filters.get(comparison)!, converted: taken }];
		const name = names[taken === 'first' ? 0 : 1]!;
		// The other bound of the range still applies.
		if (empty.includes(name)) return [];
		const isPicked = name === 'record' ? isFromList(stored.record) : name === 'choices' && Array.isArray(stored.choices);
		return [filterWithValue(field, operator, comparison, { value: row[name], isPicked }, conversion)];
	});
}

function fieldOf({ field: nameInRow }: FilterRow, fields: Map<string, FilteredField>): FilteredField {
	const name = String(nameInRow ?? '').trim();
	if (name === '') throw new Error('A filter has no field. Choose a field or remove the filter.');
	const field = fields.get(name);
	if (field) return field;
	throw new Error(`The CRM does not have the filter ${name}. Without it, too many records would be returned. Reopen the node and remove the filter or choose another one.`);
}

function filterWithValue(
	field: FilteredField,
	operator: FilterOperator,
	comparison: Comparison,
	{ value, isPicked }: { value: unknown; isPicked: boolean },
	{ fields, zone }: FilterConversion,
): ConvertedValue {
	const day = wholeDay(field, operator, value, zone);
	// A filter by its whole name, such as `created_at[lte]`, has its comparison there.
	const { name, comparison: named } = comparedBy(field.name);
	const compared = comparison === 'is' ? named : comparison;
	const bound = day ? wholeDayBound(compared) : { comparison: compared, isNextDay: false };
	const filter = bound.comparison === compared ? field.filters.get(comparison) : fields.get(name)?.filters.get(bound.comparison);
	if (!filter && compared !== comparison) throw new Error(`${field.label}: the CRM has no filter ${name}[${bound.comparison}], which a day needs here. Enter a time.`);
	if (!filter) throw unknownOperator(field, operator.name);
	if (day) return { field: filter, converted: apiValue(filter, bound.isNextDay ? nextDay(day) : day, zone) };
	const resolvedValue = isPicked && filter.target !== undefined ? asId(filter, value) : value;
	// A list with one value, even if that contains commas.
	const isOne = ['is', 'isRecord'].includes(operator.value) && valueShape(filter) === 'list' && !Array.isArray(value);
	return { field: filter, converted: apiValue(filter, isOne ? [resolvedValue] : resolvedValue, zone) };
}

function parametersOf({ takes }: FilterOperator): RowParameter[] {
	if (takes === 'dates') return ['date', 'secondDate'];
	if (takes === 'choices' || takes === 'record') return [takes];
	return takes === 'values' ? ['value', 'secondValue'] : [];
}

/**
 * The start of the day if the value means a whole day, for a field of instants: a date, or a midnight such as
 * `{{ $today }}` and what n8n's calendar writes.
 *
 * @throws Error in the user's words for a time of day if the operator takes only days
 */
function wholeDay(field: FilteredField, { value: operator, takes }: FilterOperator, value: unknown, zone: string) {
	if (!isInstant(field)) return undefined;
	const moment = parseMoment(value, zone)?.setZone(zone);
	const isDate = typeof value === 'string' && /^\s*\d{4}-\d{2}-\d{2}\s*$/.test(value);
	// A text with a zone may be a moment, such as that of the last run, after which a day would skip records.
	const hasZone = typeof value === 'string' && /(?:z|[+-]\d\d(?::?\d\d)?)\s*$/i.test(value);
	const mayBeDay = takes === 'dates' && (operator !== 'isAfter' || !hasZone);
	const isMidnight = mayBeDay && moment !== undefined && +moment === +moment.startOf('day');
	if (moment !== undefined && (isDate || isMidnight)) return startOfDay(moment);
	if (operator === 'isOn' && moment !== undefined) {
		throw new Error(`${field.label}: “Is On” takes a day, and ${moment.toISO()} is a time of day. Use a day such as ${moment.toISODate()} or {{ $today }}, or filter from one time to another with “Is Between”.`);
	}
	return undefined;
}

function operatorOf(field: FilteredField, name: string): FilterOperator {
	const operator = operatorsOf(field).find(({ value }) => value === name);
	if (operator) return operator;
	throw unknownOperator(field, filterOperators.find(({ value }) => value === name)?.name ?? name);
}

function unknownOperator(field: FilteredField, operator: string): Error {
	const names = [...new Set(operatorsOf(field).map(({ name }) => name))].join(', ');
	return new Error(`${field.label}: the CRM cannot filter this field by “${operator}”. Choose another operator: ${names}.`);
}

const noFilterValue = ({ label }: Pick<Field, 'label'>): Error =>
	new Error(`${label}: the filter has no value. Enter a value or remove the filter.`);

/** @throws Error in the user's words for two values of one filter, and for one that is refused */
function filtersWithIds({ api }: ReadingRun, values: ConvertedValue[], named: LinkResults): ConvertedValue[] {
	const twice = values.find(({ field: { name } }, i) => values.findIndex(({ field }) => field.name === name) < i);
	if (twice) throw new Error(`${twice.field.label}: two filters set ${twice.field.name}, but the CRM accepts it only once. Keep one of them.`);
	return values.map((value): ConvertedValue => {
		const { field: filter, converted } = value;
		api.requireDescription(`Filter ${filter.label}`);
		// The packaged description may lack choices of this service.
		const refusal = filter.choices && api.isSelfDescribed() ? whyRefused(filter, converted) : undefined;
		if (refusal !== undefined) throw new Error(refusal);
		const valueWithIds = replaceNames(named, value, values);
		if (hasOnlyBlanks(valueWithIds)) throw noFilterValue(filter);
		const isTyped = filter.linksTo !== undefined && filter.target !== undefined;
		return { field: filter, converted: isTyped ? [valueWithIds].flat().map((id) => `${collectionName(filter.target!)}:${String(id)}`) : valueWithIds };
	});
}

export function queryOfFilters(values: ConvertedValue[]): Query {
	const query: IDataObject = {};
	for (const { field: filter, converted } of values) setMember(query, filter.name, filterQuery(filter, converted)[filter.name]);
	return query as Query;
}

const leftEmpty = 'The AI agent’s model left';
const unfiltered = `${leftEmpty} all filter values empty, so no filter was applied: these are simply the first records.`;
