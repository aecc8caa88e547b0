import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { currentFields, customFilters, customFieldsIfAny, readCustomFieldsIfAllowed } from '../api/customFields';
import { type FilteredField, filteredFields, type FilterOperator, isInstant, operatorsOf } from '../api/openapi/filterOperators';
import type { ListDescription } from '../api/openapi/listing';
import { isPlainObject } from '../base/ownMembers';
import type { Comparison } from '../fields/condition';
import { allCustomFields, customFieldPrefix, customKeyOf, type Field } from '../fields/field';
import { shortName, wordsOf } from '../mapping/fieldNames';
import type { FilterRow } from '../mapping/filters';
import { linkedKeys } from '../reading/linkedKeys';
import { isBlank } from '../values/blank';
import { listed } from '../base/lists';
import type { ModelArguments } from './modelArguments';
import type { ToolRun } from './toolRun';
import { maxQuery } from './toolSettings';

/** The writable fields of a record type, custom fields one by one. */
export async function fieldsOfRecordType({ api, recordType, description: { create, update } }: ToolRun): Promise<Field[]> {
	// Only a new record requires such a field.
	const fields = [...(create?.fields ?? []), ...(update?.fields ?? [])];
	const distinctFields = fields.filter((field, i) => fields.findIndex(({ name }) => name === field.name) === i);
	const custom = await customFieldsIfAny(api, recordType.collection, distinctFields);
	return [...distinctFields.filter(({ name }) => name !== allCustomFields), ...(custom?.fields ?? [])];
}

/**
 * Finds the entry that a name refers to, by its name in the API or by its label.
 *
 * @throws Error in the model's words, with the available names
 */
export function matchByName<Entry extends { name: string; label: string }>(all: Entry[], requestedName: string, entryType: string): Entry {
	const exact = all.find(({ name }) => name === requestedName || name === customFieldPrefix + requestedName);
	if (exact) return exact;
	const words = wordsOf(requestedName);
	const aliasesOf = ({ name, label }: Entry) => [name, shortName(name), label, customKeyOf(name) ?? name];
	const matches = all.filter((entry) => aliasesOf(entry).some((alias) => wordsOf(alias) === words));
	const [only] = matches;
	if (only && matches.length === 1) return only;
	const listedNames = listed((matches.length > 0 ? matches : all).map(({ name }) => name), 60);
	throw new Error(
		matches.length > 0 ? `${requestedName} could be ${listedNames}. Use one of these.` : `There is no ${entryType} ${requestedName}. Use one of these: ${listedNames}.`,
	);
}

/** The records with names in place of linked ids and without blank values, which saves tokens. */
export async function forReading(api: Connection, fields: Field[], records: IDataObject[]): Promise<IDataObject[]> {
	const named = await linkedKeys(api, fields, 'names')(records);
	return named.map((record) => withoutBlankMembers(record));
}

function withoutBlankMembers(record: IDataObject): IDataObject {
	const filled = Object.entries(record).flatMap(([name, value]): Array<[string, unknown]> => {
		if (isBlank(value)) return [];
		if (typeof value !== 'object' || Array.isArray(value)) return [[name, value]];
		const inner = withoutBlankMembers(value as IDataObject);
		return Object.keys(inner).length > 0 ? [[name, inner]] : [];
	});
	return Object.fromEntries(filled) as IDataObject;
}

/** The fields that a list can be filtered by, including custom fields. */
export async function toolFiltersOf({ api, recordType }: ToolRun, list: ListDescription): Promise<FilteredField[]> {
	const custom = list.takesCustomFields ? await readCustomFieldsIfAllowed(api, recordType.collection) : undefined;
	return filteredFields([...list.filters, ...customFilters(list, currentFields(custom))]);
}

/**
 * Converts the model's query and filters to the rows that a workflow stores.
 *
 * @throws Error in the model's words if a field or a comparison does not exist
 */
export async function filterRowsOf(run: ToolRun, list: ListDescription, args: ModelArguments): Promise<FilterRow[]> {
	const fields = await toolFiltersOf(run, list);
	const query = args.text('query', maxQuery);
	if (query !== undefined && list.search === undefined) {
		throw new Error(`Records of the kind ${run.recordType.name} cannot be searched by words. Use filters.`);
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
