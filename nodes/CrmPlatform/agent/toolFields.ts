import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { currentFields, customFilters } from '../api/customFields';
import { type FilteredField, filteredFields, type FilterOperator, isInstant, operatorsOf } from '../api/openapi/filterOperators';
import type { ListDescription } from '../api/openapi/listing';
import { isPlainObject } from '../base/ownMembers';
import type { Comparison } from '../fields/condition';
import { allCustomFields, customFieldPrefix, customKeyOf, type Field } from '../fields/field';
import { customFieldsIfAny, customFieldsOnce } from '../mapping/acceptedFields';
import { wordsOf } from '../mapping/fieldNames';
import type { FilterRow } from '../mapping/filterRows';
import { linkedKeys } from '../reading/linkedKeys';
import { isBlank } from '../values/blank';
import { listed } from '../values/listed';
import type { ModelArguments } from './modelArguments';
import { toolCollection, toolDescription, type ToolRun } from './toolRun';
import { maxQuery, type RecordType, actionsOf } from './toolSettings';

/** The writable fields of a record type, custom fields one by one. */
export async function fieldsOfRecordType(run: ToolRun, recordType: RecordType): Promise<Field[]> {
	const { create, update } = await toolDescription(run, recordType);
	// Only a new record requires such a field.
	const fields = [...(create?.fields ?? []), ...(update?.fields ?? [])];
	const distinctFields = fields.filter((field, i) => fields.findIndex(({ name }) => name === field.name) === i);
	const custom = await customFieldsIfAny(run.api, toolCollection(recordType), distinctFields);
	return [...distinctFields.filter(({ name }) => name !== allCustomFields), ...(custom?.fields ?? [])];
}

/** A name that models use for a link: `company` for `company_id`. */
const shortName = (name: string): string => name.replace(/_ids?$/, '');

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

/**
 * Returns the values under the service's names: the model may write `company` for `company_id`.
 *
 * @throws Error in the model's words if the values name a field twice, or if an id would be left out
 */
export function withServiceNames(values: IDataObject, fields: Field[]): IDataObject {
	const fieldNames = new Set(fields.flatMap(({ name, path: [member = ''] }) => [name, member]));
	const id = fieldNames.has('id') ? undefined : Object.keys(values).find((name) => wordsOf(name) === 'id');
	if (id !== undefined) {
		throw new Error(`values must not contain ${id}: the CRM assigns the id of a new record, and record names the one to change.`);
	}
	refuseRepeatedNames(namesIn(values), (name) => fieldCalled(name, fields));
	return Object.fromEntries(
		Object.entries(values).map(([name, value]) => {
			const longer = fieldNames.has(name) ? [] : [`${name}_id`, `${name}_ids`].filter((candidate) => fieldNames.has(candidate));
			return [longer.length === 1 ? longer[0]! : name, value];
		}),
	);
}

/** @throws Error in the model's words if two names mean one field */
export function refuseRepeatedNames(names: string[], meaning: (name: string) => string): void {
	for (const name of names) {
		const same = names.filter((other) => meaning(other) === meaning(name));
		if (same.length > 1) throw new Error(`${same.join(', ')} are one field. Send it once.`);
	}
}

/** The names of all values; a value in an object has the object's name before its own. */
const namesIn = (values: IDataObject, before = ''): string[] =>
	Object.entries(values).flatMap(([name, value]) => {
		const inner = isPlainObject(value) ? namesIn(value as IDataObject, `${before}${name}.`) : [];
		return inner.length > 0 ? inner : [before + name];
	});

/** Finds the only field with this name, in any spelling; without one, returns the words of the name. */
function fieldCalled(requestedName: string, fields: Field[]): string {
	const bare = (name: string) => wordsOf(customKeyOf(name) ?? name);
	const words = bare(requestedName);
	const matches = fields.filter(({ name, label }) => [bare(name), bare(shortName(name)), wordsOf(label)].includes(words));
	const onlyMatch = matches.length === 1 ? matches[0] : undefined;
	const field = fields.find(({ name }) => name === requestedName) ?? matches.find(({ name }) => bare(name) === words) ?? onlyMatch;
	return field?.name ?? words;
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

/**
 * Refuses values for fields that records have and that only the service sets.
 *
 * @throws Error in the model's words
 */
export async function refuseSetByService(run: ToolRun, args: ModelArguments): Promise<void> {
	// An id is refused later, when the values are read, with a hint about where to send it.
	const names = Object.keys(args.object('values')).filter((name) => wordsOf(name) !== 'id');
	if (names.length === 0) return;
	const recordType = args.recordType();
	const fields = await fieldsOfRecordType(run, recordType);
	const words = new Set(fields.flatMap(({ name, label, path }) => [
		name,
		label,
		shortName(name),
		path[0] ?? '',
		path.slice(1).join('.'),
	].map(wordsOf)));
	const { fields: recordFields } = await toolDescription(run, recordType);
	const custom = await customFieldsIfAny(run.api, toolCollection(recordType), recordFields);
	const knownNames = [...recordFields.map(({ name }) => name), ...(custom?.unwritableNames ?? [])];
	const readOnlyNames = names.filter((name) => !words.has(wordsOf(name)) && knownNames.some((knownName) => knownName === name || knownName === customFieldPrefix + name));
	if (readOnlyNames.length === 0) return;
	const { prefix, verbs } = run.settings;
	const actions = actionsOf(recordType, verbs).map(({ option }) => option.value).join(', ');
	const instead = actions === '' ? '' : ` The actions of ${prefix}_act change some of these: ${actions}.`;
	throw new Error(
		`${readOnlyNames.join(', ')}: read-only, because the CRM sets it.${instead} ${prefix}_describe lists the fields that can be written.`,
	);
}

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
