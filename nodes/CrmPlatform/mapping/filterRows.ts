import type { DateTime } from 'luxon';
import type { IExecuteFunctions } from 'n8n-workflow';

import { type FilteredField, filteredFields, type FilterOperator, filterOperators, isInstant, isRange, operatorsOf, wholeDayBound } from '../api/openapi/filterOperators';
import { isToolCall } from '../api/toolNode';
import type { Field, InputValue } from '../fields/field';
import { valueShape } from '../fields/fieldKinds';
import { asId } from '../lookUp/names';
import { isBlank } from '../values/blank';
import { readOption } from '../values/readers';
import { nextDay, parseMoment, startOfDay } from '../values/dates';
import { Evaluation } from './expressions/evaluation';
import { isFilledByModel } from './expressions/template';
import { locatorValue, isFromList, storedParameter } from './locator';

/** A row of the user's filters, as stored in the workflow: expressions are not evaluated. */
export type FilterRow = Partial<Record<RowKey | 'join', unknown>>;

const rowKeys = ['field', 'operator', 'value', 'secondValue', 'choices', 'date', 'secondDate', 'record'] as const;
type RowKey = (typeof rowKeys)[number];

/**
 * The filters of the parameter `parameter`, in groups: a record must match all rows of one of them.
 *
 * @throws Error in the user's words if a row is joined by an expression
 */
export function storedGroups(n8n: IExecuteFunctions, parameter: string): FilterRow[][] {
	const groups: FilterRow[][] = [[]];
	for (const [i, row] of (storedParameter(n8n, `${parameter}.rows`, []) as FilterRow[]).entries()) {
		const join = readOption('And / Or', row.join, ['and', 'or'], { otherwise: 'and' });
		if (join === 'or' && i > 0) groups.push([]);
		groups.at(-1)!.push(row);
	}
	return groups;
}

/** Who may leave a filter without a value. Such a filter is ignored, so that more records are listed. */
export type MayLeaveOut = 'model' | 'nobody';

/**
 * Reads the rows of each group as values of the service's filters. In a tool call, a value that the model leaves empty is
 * ignored, because a model has to fill in every parameter.
 *
 * @param filters by the names of their fields
 * @returns a function that returns the filters of an item with their evaluated values
 * @throws Error from that function, in the user's words, for a field or an operator that the service does not have, and for a
 * row without a value
 */
export function filterRowsReader(n8n: IExecuteFunctions, groups: FilterRow[][], mayLeaveOut: MayLeaveOut, filters: Map<string, FilteredField>): (item: number) => InputValue[][] {
	const rows = groups.flat();
	const cells = rows.flatMap((row, i) => rowKeys.map((key) => ({ label: `Filter ${i + 1}`, value: locatorValue(row[key]) })));
	const evaluation = new Evaluation(n8n, cells);
	// Only in tool calls: otherwise, n8n returns the default of $fromAI.
	const isLeftOut = (value: unknown) => mayLeaveOut === 'model' && isToolCall(n8n) && isFilledByModel(locatorValue(value));
	return (item) => {
		const results = evaluation.valuesOf(item);
		return groups.map((group) => group.flatMap((row) => {
			const i = rows.indexOf(row);
			const evaluatedRow = Object.fromEntries(rowKeys.map((key, k) => [key, results[i * rowKeys.length + k]])) as FilterRow;
			evaluatedRow.record = locatorValue(evaluatedRow.record);
			return rowValues(row, evaluatedRow, filters, n8n.getTimezone(), isLeftOut);
		}));
	};
}

export function filteredFieldsByName(filters: Field[]): Map<string, FilteredField> {
	const byName = new Map(filteredFields(filters).map((field): [string, FilteredField] => [field.name, field]));
	// Each filter is also a field with its whole name: `created_at[gte]`.
	for (const filter of filters) {
		const filteredField: FilteredField = { name: filter.name, label: filter.label, filters: new Map([['is', filter]]) };
		if (!byName.has(filter.name)) byName.set(filter.name, filteredField);
	}
	return byName;
}

function rowValues(
	stored: FilterRow,
	evaluatedRow: FilterRow,
	fields: Map<string, FilteredField>,
	zone: string,
	isLeftOut: (value: unknown) => boolean,
): InputValue[] {
	const name = String(evaluatedRow.field ?? '').trim();
	if (name === '') throw new Error('A filter has no field. Choose a field or remove the filter.');
	const field = fields.get(name) ?? refuseFilter(name);
	if (stored.operator !== undefined && isBlank(evaluatedRow.operator)) throw noOperator(field);
	const operator = operatorOf(field, String(evaluatedRow.operator ?? 'is'));

	const [first, second] = keysOf(operator);
	const requiredKeys = [...(first ? [first] : []), ...(isRange(operator) && second ? [second] : [])];
	const missing = requiredKeys.filter((key) => isBlank(evaluatedRow[key]));
	if (missing.some((key) => !isLeftOut(stored[key]))) throw noFilterValue(field);

	return operator.filters.flatMap(([comparison, source]): InputValue[] => {
		if (typeof source === 'boolean') {
			const filter = field.filters.get(comparison)!;
			return [{ field: filter, value: source }];
		}
		const key = (source === 'first' ? first : second)!;
		// The other bound of the range still applies.
		if (missing.includes(key)) return [];
		const value = evaluatedRow[key];
		const bound = wholeDay(field, operator, value, zone);
		const at = bound ? wholeDayBound(comparison) : { comparison, isNextDay: false };
		const filter = field.filters.get(at.comparison);
		if (!filter) throw unknownOperator(field, operator.name);
		if (bound) return [{ field: filter, value: at.isNextDay ? nextDay(bound) : bound }];
		const isPicked = first === 'record' ? isFromList(stored.record) : first === 'choices' && Array.isArray(stored.choices);
		const resolvedValue = isPicked && filter.collection !== undefined ? asId(filter, value) : value;
		// A list with one value, even if that contains commas.
		const isOne = ['is', 'isRecord'].includes(operator.value) && valueShape(filter) === 'list' && !Array.isArray(value);
		return [{ field: filter, value: isOne ? [resolvedValue] : resolvedValue }];
	});
}

function keysOf({ takes }: FilterOperator): RowKey[] {
	if (takes === 'dates') return ['date', 'secondDate'];
	if (takes === 'choices' || takes === 'record') return [takes];
	return takes === 'values' ? ['value', 'secondValue'] : [];
}

/**
 * The start of the day if the value means a whole day, for a field of instants: a date, or a midnight such as
 * `{{ $today }}`.
 *
 * @throws Error in the user's words for a time of day if the operator takes only days
 */
function wholeDay(field: FilteredField, { value: operator, takes }: FilterOperator, value: unknown, zone: string) {
	if (!isInstant(field)) return undefined;
	const moment = parseMoment(value, zone)?.setZone(zone);
	const isDate = typeof value === 'string' && /^\s*\d{4}-\d{2}-\d{2}\s*$/.test(value);
	const isMidnight = takes === 'dates' && moment !== undefined && +moment === +moment.startOf('day');
	if (moment !== undefined && (isDate || isMidnight)) return startOfDay(moment);
	if (operator === 'isOn' && moment !== undefined) throw noDay(field, moment);
	return undefined;
}

function operatorOf(field: FilteredField, name: string): FilterOperator {
	const operator = operatorsOf(field).find(({ value }) => value === name);
	if (operator) return operator;
	throw unknownOperator(field, filterOperators.find(({ value }) => value === name)?.name ?? name);
}

function unknownOperator(field: FilteredField, operator: string): Error {
	const names = [...new Set(operatorsOf(field).map(({ name }) => name))].join(', ');
	return new Error(
		`${field.label}: the CRM cannot filter this field by “${operator}”. Choose another operator: ${names}.`,
	);
}

/** @throws Error in the user's words */
function refuseFilter(name: string): never {
	throw new Error(
		`The CRM does not have the filter ${name}. Without it, too many records would be returned. Reopen the node and remove the filter or choose another one.`,
	);
}

export function noFilterValue({ label }: Pick<Field, 'label'>): Error {
	return new Error(`${label}: the filter has no value. Enter a value or remove the filter.`);
}

const noDay = ({ label }: FilteredField, moment: DateTime): Error =>
	new Error(`${label}: "Is On" takes a day, and ${moment.toISO()} is a time of day. Use a day such as ${moment.toISODate()} or {{ $today }}, or filter from one time to another with "Is Between".`);

const noOperator = ({ label }: FilteredField): Error =>
	new Error(`${label}: the filter’s operator is empty because its expression returned nothing. Choose an operator, or correct the expression.`);
