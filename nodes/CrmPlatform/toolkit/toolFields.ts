import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { currentFields, customFilters, customFieldsIfAny, readCustomFieldsIfAllowed } from '../api/customFields';
import { type FilteredField, filteredFields, type FilterOperator, isInstant, operatorsOf } from '../api/openapi/filterOperators';
import type { ListDescription } from '../api/openapi/listing';
import { isPlainObject } from '../base/ownMembers';
import { allCustomFields, type Field } from '../fields/field';
import { matchByName } from '../mapping/fieldNames';
import type { FilterRow } from '../mapping/filters';
import { idReplacer } from '../lookUp/idReplacer';
import { isBlank } from '../values/blank';
import type { ToolkitCall } from './toolkitCall';
import { maxQueryLength } from './toolTexts';

/** The writable fields of a record type, custom fields one by one. */
export async function writableFields({ api, recordType, description: { create, update } }: ToolkitCall): Promise<Field[]> {
	// Only a new record requires such a field.
	const fields = [...(create?.fields ?? []), ...(update?.fields ?? [])];
	const distinctFields = fields.filter((field, i) => fields.findIndex(({ name }) => name === field.name) === i);
	const custom = await customFieldsIfAny(api, recordType.collection, distinctFields);
	return [...distinctFields.filter(({ name }) => name !== allCustomFields), ...(custom?.fields ?? [])];
}

/** The records with names in place of linked ids and without blank values, which saves tokens. */
export async function forModel(api: Connection, fields: Field[], records: IDataObject[]): Promise<IDataObject[]> {
	const named = await idReplacer(api, fields, 'names')(records);
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
export async function toolFiltersOf({ api, recordType }: ToolkitCall, list: ListDescription): Promise<FilteredField[]> {
	const custom = list.takesCustomFields ? await readCustomFieldsIfAllowed(api, recordType.collection) : undefined;
	return filteredFields([...list.filters, ...customFilters(list, currentFields(custom))]);
}

/**
 * Converts the model's query and filters to the rows that a workflow stores.
 *
 * @throws Error in the model's words if a field or a comparison does not exist
 */
export async function filterRowsOf(call: ToolkitCall, list: ListDescription): Promise<FilterRow[]> {
	const fields = await toolFiltersOf(call, list);
	const query = call.args.text('query', maxQueryLength);
	if (query !== undefined && list.search === undefined) {
		throw new Error(`Records of the kind ${call.recordType.name} cannot be searched by words. Use filters.`);
	}
	const rows: FilterRow[] = query === undefined ? [] : [{ field: list.search, operator: 'is', value: query }];
	const filterableFields = fields.filter(({ name }) => name !== list.search);
	for (const [name, value] of Object.entries(call.args.object('filters'))) {
		const field = matchByName(filterableFields, name, 'filter');
		const comparisons = isPlainObject(value) ? Object.entries(value as IDataObject) : [['is', value]];
		rows.push(...comparisons.map(([comparison, comparedValue]) => rowOf(field, String(comparison), comparedValue)));
	}
	return rows;
}

/** @throws Error in the model's words if the field has no such comparison */
function rowOf(field: FilteredField, comparison: string, value: unknown): FilterRow {
	const operators = operatorsOf(field);
	// A day is a range: an instant cannot equal it.
	const isDay = typeof value === 'string' && /^\s*\d{4}-\d{2}-\d{2}\s*$/.test(value) && isInstant(field);
	const special = comparison !== 'is' ? undefined : Array.isArray(value) ? 'isOneOf' : isDay ? 'isOn' : undefined;
	const fits = ({ filters: [first, ...others] }: FilterOperator) =>
		others.length === 0 && first?.[0] === comparison && (comparison !== 'empty' || first[1] === (String(value) !== 'false'));
	const isMeant = (operator: FilterOperator) => (special === undefined ? fits(operator) : operator.value === special);
	const found = value === null ? undefined : operators.find(isMeant);
	if (found) return { field: field.name, operator: found.value, [found.takes === 'dates' ? 'date' : 'value']: value };

	const has = (operatorValue: string): boolean => operators.some((operator) => operator.value === operatorValue);
	if (value === null) {
		const instead = has('isEmpty') ? 'Send {"empty": true} for records without one' : 'Each record has one: leave this filter out';
		throw new Error(`${field.name}: null is not a value to filter by. ${instead}.`);
	}
	if (special === 'isOn') {
		throw new Error(`${field.name} is a time, and cannot be filtered by a day. Send a time such as ${String(value).trim()}T09:00:00Z.`);
	}
	const single = operators.filter(({ filters }) => filters.length === 1).map(({ filters: [first] }) => first![0]);
	const values = has('isOneOf') ? ['a value', 'a list of values'] : ['a value'];
	const possible = [...new Set(single)].flatMap((name) => (name === 'is' ? values : [name]));
	const refusal = `${field.name} cannot be filtered by ${special === undefined ? comparison : 'a list'}. It takes ${possible.join(', ')}.`;
	if (!isNegation.test(comparison)) throw new Error(refusal);
	const excluded = [value].flat().map(String);
	const choices = (field.filters.get('is')?.choices ?? []).map((choice) => choice.value);
	const others = choices.filter((choice) => !excluded.includes(String(choice)));
	throw new Error(has('isOneOf') && others.length > 0
		? `${refusal} To exclude, send the others: {"${field.name}": ${JSON.stringify(others)}}.`
		: `${refusal} Filters cannot exclude values: search without this one, and leave out the records that have the value.`);
}

const isNegation = /^(!=|<>|ne|neq|nin|isn'?t|(is_?)?not(_?(in|equals?|eq))?)$/i;
