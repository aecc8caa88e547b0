import type { IDataObject } from 'n8n-workflow';

import { allFilters, currentFields, readCustomFieldsIfAllowed } from '../api/customFields';
import { collectionName, type Query } from '../api/http/path';
import { readPage } from '../api/lists/pages';
import { type FilteredField, filteredFields, type FilterOperator, isInstant, operatorsOf } from '../api/openapi/filterOperators';
import type { ListDescription } from '../api/openapi/listing';
import { idText } from '../base/json';
import { isPlainObject } from '../base/ownMembers';
import type { Field } from '../fields/field';
import { valueShape } from '../fields/fieldKinds';
import { withFields } from '../lookUp/lookUp';
import { readParts } from '../lookUp/parts';
import { matchByName } from '../mapping/fieldNames';
import { queriesOf, readFilters, type FilterRow } from '../mapping/filters';
import { readTimeline } from '../operations/getTimeline';
import { countRecords } from '../reading/counting';
import { outputField, simplify } from '../reading/simplify';
import { namedRecord } from './namedRecord';
import { availableOperation, runFor, forModel, writableFields, type ToolkitAnswer, type ToolkitCall } from './toolkitCall';
import { toolActionNames } from './toolkitSettings';
import { dataNotice, maxLimit } from './toolTexts';

export async function searchTool(call: ToolkitCall): Promise<ToolkitAnswer> {
	const { api, args, toolkitType, description: { summary } } = call;
	const list = listOf(call);
	const limit = args.number('limit', 1, maxLimit) ?? 10;
	const filters = await toolQueryOf(call, list);
	const sort = args.text('sort') === undefined ? {} : { [list.sort?.name ?? '']: args.choice('sort', list.sort?.values ?? []) };
	const size = list.pageSize ? { [list.pageSize.name]: Math.min(limit, list.pageSize.maximum) } : {};
	// Without the mark of deletion, a deleted record would look like any other.
	const names = summary.length > 0 ? [...new Set([...summary, ...(list.deleted ? [list.deleted.field] : [])])] : [];
	const query = withFields(list, { ...filters, ...sort, ...size }, names);
	const { records, total, next } = await readPage(api.send, toolkitType.collection, { list, query, cursor: args.text('cursor') });

	const short = names.length > 0 ? records.map((record) => simplify(record, names.map(outputField))) : records;
	const data = await forModel(api, await writableFields(call), short);
	if (data.length === 0) return { data, notes: [`No ${toolkitType.name} matches. Try other words or fewer filters.`] };
	const notes = [...(total !== undefined && total > data.length ? [`${total} records match.`] : []), dataNotice];
	if (next === undefined) return { data, notes };
	return { data, notes, noteIfComplete: `There are more: send the same arguments with cursor ${next}, or narrow the search.` };
}

export async function getTool(call: ToolkitCall): Promise<ToolkitAnswer> {
	const { api, args, toolkitType, settings } = call;
	const { id, record } = await namedRecord(call, args.text('record'));
	const [named = {}] = await forModel(api, await writableFields(call), [record]);
	// Returns the name and the id of a linked record, since several records may have that name.
	const ids = Object.entries(record).filter(([name, value]) => idText(value) !== undefined && named[name] !== value);
	const both = Object.fromEntries(ids.flatMap(([name, value]) => [[name, value], [name.replace(/_id$/, '_name'), named[name]]]));
	// What hangs on the record, of the kinds that the model can see.
	const kinds = settings.toolkitTypes.map(({ resource }) => resource.value);
	const ofTimeline = { ...api, notices: new Set<string>() };
	const timeline = args.text('timeline') === 'true'
		? await readTimeline(ofTimeline, { path: toolkitType.collection, id, kinds, areVisible: true, limit: maxLimit })
		: [];
	return { data: [{ ...named, ...both }, ...timeline], notes: [...ofTimeline.notices, dataNotice] };
}

/** @throws Error in the model's words if the records cannot be listed */
function listOf({ description: { list }, toolkitType }: ToolkitCall): ListDescription {
	if (list) return list;
	throw new Error(`Records of the kind ${toolkitType.name} cannot be listed. Use another kind.`);
}

async function toolFiltersOf({ api, toolkitType }: ToolkitCall, list: ListDescription): Promise<FilteredField[]> {
	const custom = list.takesCustomFields ? await readCustomFieldsIfAllowed(api, toolkitType.collection) : undefined;
	return filteredFields(allFilters(list, currentFields(custom)));
}

/** The model's search text and filters as a query. @throws Error in the model's words if a field or a comparison does not exist */
async function toolQueryOf(call: ToolkitCall, list: ListDescription): Promise<Query> {
	const { args, toolkitType } = call;
	const query = args.text('query');
	if (query !== undefined && list.search === undefined) {
		throw new Error(`Records of the kind ${toolkitType.name} cannot be searched by words. Use filters.`);
	}
	const rows: FilterRow[] = query === undefined ? [] : [{ field: list.search, operator: 'is', value: query }];
	const fields = (await toolFiltersOf(call, list)).filter(({ name }) => name !== list.search);
	for (const [name, value] of Object.entries(args.object('filters'))) {
		const field = matchByName(fields, name, 'filter');
		const comparisons = isPlainObject(value) ? Object.entries(value as IDataObject) : [['is', value]];
		rows.push(...comparisons.map(([comparison, comparedValue]) => rowOf(field, String(comparison), comparedValue)));
	}
	const run = runFor(call, { operation: availableOperation(toolkitType, 'getMany'), parameters: { 'filters.rows': rows } });
	return queriesOf((await readFilters(run, 'filters', list))[0]!)[0]!;
}

/** @throws Error in the model's words if the field has no such comparison */
function rowOf(field: FilteredField, comparison: string, value: unknown): FilterRow {
	const operators = operatorsOf(field);
	const operator = value === null ? undefined : operators.find((candidate) => makes(candidate, field, comparison, value));
	if (operator) return { field: field.name, operator: operator.value, [operator.takes === 'dates' ? 'date' : 'value']: value };
	const refused = comparison === 'is' || value === null ? JSON.stringify(value).slice(0, 100) : comparison;
	const values = operators.some((candidate) => candidate.value === 'isOneOf') ? ['a value', 'a list of values'] : ['a value'];
	const single = operators.filter(({ filters }) => filters.length === 1).map(({ filters: [first] }) => first![0]);
	const possible = [...new Set(single)].flatMap((name) => (name === 'is' ? values : [name]));
	throw new Error(`${field.name} cannot be filtered by ${refused}. It takes ${possible.join(', ')}.`);
}

/** Whether an operator makes a comparison. Equality with a list has one of its own, as has that of an instant with a day, which is a range. */
function makes({ value: name, filters: [first, ...others] }: FilterOperator, field: FilteredField, comparison: string, value: unknown): boolean {
	const isDay = typeof value === 'string' && /^\s*\d{4}-\d{2}-\d{2}\s*$/.test(value);
	if (comparison === 'is' && Array.isArray(value)) return name === 'isOneOf';
	if (comparison === 'is' && isDay && isInstant(field)) return name === 'isOn';
	const isEmptyOrNot = comparison !== 'empty' || first?.[1] === (String(value) !== 'false');
	return first?.[0] === comparison && others.length === 0 && isEmptyOrNot;
}

/** Maximum number of records read for groups and sums. Plain counts are unlimited. */
const maxCounted = 10_000;

export async function countTool(call: ToolkitCall): Promise<ToolkitAnswer> {
	const { api, n8n, args, description, toolkitType: { collection: path } } = call;
	const list = listOf(call);
	const [groupBy = [], sumOf = []] = ['group_by', 'sum'].map((name) => [args.text(name) ?? []].flat());
	const queries = [await toolQueryOf(call, list)];
	const request = { path, list, queries, groupBy, sumOf, zone: n8n.getTimezone(), maxRead: maxCounted };
	const { rows } = await countRecords(api, description, request);
	return { data: rows.length > 0 ? rows : [{ count: 0 }], notes: groupBy.length > 0 && rows.length > 0 ? [dataNotice] : [] };
}

/** Maximum number of choices listed per field; `field` returns all of them. */
const maxChoices = 12;

/**
 * Describes a record type: the permitted actions first, then one row per field, so that a shortened answer
 * still has complete rows. A prefix such as `custom_fields.x` returns the fields that were left out.
 */
export async function describeTool(call: ToolkitCall): Promise<ToolkitAnswer> {
	const fields = await writableFields(call);
	const fieldName = call.args.text('field');
	const begun = fields.filter(({ name }) => name.startsWith(fieldName ?? ''));
	if (fieldName !== undefined && (begun.length < 2 || begun.some(({ name }) => name === fieldName))) {
		return { data: [await fieldDetails(call, matchByName(fields, fieldName, 'field'))], notes: [], noteIfComplete: dataNotice };
	}
	const rows = await Promise.all(begun.map(async (field): Promise<IDataObject> => ({ [field.name]: await describeField(call, field) })));
	const data = fieldName === undefined ? [await describeType(call, fields), ...rows] : rows;
	const isCut = JSON.stringify(data).length > call.settings.maxLength;
	return { data, notes: isCut ? ['To see the other fields, send the beginning of their names as field.'] : [], noteIfComplete: dataNotice };
}

async function describeType(call: ToolkitCall, fields: Field[]): Promise<IDataObject> {
	const { toolkitType, description: { list, upsert } } = call;
	const filters = list ? (await toolFiltersOf(call, list)).map(({ name }) => name) : [];
	// Writable fields are listed above; the rest is read-only.
	const others = filters.filter((name) => name !== list?.search && !fields.some((field) => field.name === name));
	return {
		kind: toolkitType.name,
		changes: toolkitType.changeVerbs.join(', ') || 'none',
		actions: toolActionNames(toolkitType) || 'none',
		...(toolkitType.changeVerbs.includes('upsert') && upsert?.match && { match_on: upsert.match.values.join(', ') }),
		fields: fields.length,
		filters: `these fields, and ${others.join(', ')}`,
	};
}

async function choicesForModel({ api }: ToolkitCall, { choices, target, part }: Field): Promise<string[]> {
	if (choices) return choices.map(({ value }) => String(value));
	if (target === undefined || part === undefined) return [];
	const parts = await readParts(api, target, part).catch(() => []);
	return [...new Set(parts.map(({ name }) => name))];
}

async function describeField(call: ToolkitCall, field: Field): Promise<string> {
	const { target, linksTo, kind, required } = field;
	const choices = await choicesForModel(call, field);
	const more = choices.length > maxChoices ? `|… ${choices.length - maxChoices} more` : '';
	const links = linksTo ? `[{resource: ${linksTo.map(collectionName).join('|')}, id}]` : kind;
	const value = target === undefined ? links : `name or id (${collectionName(target)})`;
	const valueDescription = choices.length > 0 ? choices.slice(0, maxChoices).join('|') + more : value;
	const description = valueShape(field) === 'list' ? `list of ${valueDescription.replace(/^list$/, 'texts')}` : valueDescription;
	return required ? `${description}, required` : description;
}

async function fieldDetails(call: ToolkitCall, field: Field): Promise<IDataObject> {
	const { name, label, kind, description, required, target, maxLength, unique } = field;
	const choices = await choicesForModel(call, field);
	return {
		name,
		label,
		kind,
		description: description === '' ? undefined : description,
		required,
		unique,
		names_of: target && collectionName(target),
		max_length: maxLength,
		choices: choices.length > 0 ? choices : undefined,
	};
}
