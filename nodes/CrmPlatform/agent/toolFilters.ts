import type { IDataObject } from 'n8n-workflow';

import { isPlainObject } from '../base/ownMembers';
import { filteredFields, type FilteredField } from '../api/openapi/filteredFields';
import type { Comparison } from '../fields/condition';
import { isInstant, operatorsOf, type FilterOperator } from '../api/openapi/filterOperators';
import type { ListDescription } from '../api/openapi/listing';
import { currentFields, customFilters } from '../api/customFields';
import { customFieldsOnce } from '../mapping/acceptedFields';
import type { FilterRow } from '../mapping/filterRows';
import type { ModelArguments } from './modelArguments';
import { matchByName } from './toolFields';
import { toolCollection, type ToolRun } from './toolRun';
import { maxQuery } from './toolSchemas';
import type { RecordType } from './toolSettings';

/** The fields that a list can be filtered by, including custom fields. */
export async function toolFiltersOf({ api }: ToolRun, recordType: RecordType, list: ListDescription): Promise<FilteredField[]> {
	const custom = list.takesCustomFields ? await customFieldsOnce(api, toolCollection(recordType)) : undefined;
	return filteredFields([...list.filters, ...customFilters(list, currentFields(custom))]);
}

/**
 * Converts the model's query and filters to the rows that a workflow stores.
 *
 * @throws Error in the model's words if a field or a comparison does not exist
 */
export async function filterRowsOf(run: ToolRun, recordType: RecordType, list: ListDescription, args: ModelArguments): Promise<FilterRow[]> {
	const fields = await toolFiltersOf(run, recordType, list);
	const query = args.text('query', maxQuery);
	if (query !== undefined && list.search === undefined) {
		throw new Error(`Records of the kind ${recordType.name} cannot be searched by words. Use filters.`);
	}
	const rows: FilterRow[] = query === undefined ? [] : [{ field: list.search, operator: 'is', value: query }];
	const filterableFields = fields.filter(({ name }) => name !== list.search);
	for (const [name, value] of Object.entries(args.object('filters'))) {
		const field = matchByName(filterableFields, name, 'filter');
		const comparisons = isPlainObject(value) ? Object.entries(value as IDataObject) : [['is', value]];
		rows.push(...comparisons.map(([comparison, comparedValue]) => rowOf(field, String(comparison), comparedValue)));
	}
	return rows;
}

function rowOf(field: FilteredField, comparison: string, value: unknown): FilterRow {
	const operators = operatorsOf(field).filter(({ filters }) => filters.length === 1);
	const has = (operatorValue: string): boolean => operators.some((operator) => operator.value === operatorValue);
	if (value === null) {
		throw new Error(
			`${field.name}: null is not a value to filter by. ${has('isEmpty') ? 'Send {"empty": true} for records without one' : 'Each record has one: leave this filter out'}.`,
		);
	}
	const isDay = typeof value === 'string' && /^\s*\d{4}-\d{2}-\d{2}\s*$/.test(value);
	// A day is a range: an instant cannot equal it.
	if (comparison === 'is' && isDay && isInstant(field)) {
		if (operatorsOf(field).some((operator) => operator.value === 'isOn')) return { field: field.name, operator: 'isOn', date: value };
		throw new Error(`${field.name} is a time, and cannot be filtered by a day. Send a time such as ${value.trim()}T09:00:00Z.`);
	}
	const fits = ({ filters: [first] }: FilterOperator) =>
		first?.[0] === comparison && (comparison !== 'empty' || first[1] === (String(value) !== 'false'));
	const found = comparison === 'is' && Array.isArray(value)
		? operators.find((operator) => operator.value === 'isOneOf')
		: operators.find(fits);
	if (!found) {
		const possible = [...new Set(operators.flatMap(({ filters: [first] }): Comparison[] => (first ? [first[0]] : [])))];
		const comparisonText = Array.isArray(value) && comparison === 'is' ? 'a list' : comparison;
		const acceptedComparisons = possible.flatMap((candidate) => (candidate === 'is' ? ['a value', ...(has('isOneOf') ? ['a list of values'] : [])] : [candidate]));
		throw new Error(
			`${field.name} cannot be filtered by ${comparisonText}. It takes ${acceptedComparisons.join(', ')}.${isNegation.test(comparison) ? ` ${insteadOfNot(field, value, has('isOneOf'))}` : ''}`,
		);
	}
	return { field: field.name, operator: found.value, [found.takes === 'dates' ? 'date' : 'value']: value };
}

const isNegation = /^(!=|<>|ne|neq|nin|isn'?t|(is_?)?not(_?(in|equals?|eq))?)$/i;

/** Alternatives to an excluding filter. */
function insteadOfNot({ filters, name }: FilteredField, excluded: unknown, takesList: boolean): string {
	const excludedValues = [excluded].flat().map(String);
	const others = (filters.get('is')?.choices ?? []).map((choice) => choice.value).filter((value) => !excludedValues.includes(String(value)));
	if (!takesList || others.length === 0) {
		return 'Filters cannot exclude values: search without this one, and leave out the records that have the value.';
	}
	return `To exclude, send the others: {"${name}": ${JSON.stringify(others)}}.`;
}
