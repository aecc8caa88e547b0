import type { IDataObject } from 'n8n-workflow';

import { isPlainObject } from '../api/http/ownMembers';
import { filteredFields, type Comparison, type FilteredField } from '../api/openapi/filteredFields';
import { isInstant, operatorsOf, type FilterOperator } from '../api/openapi/filterOperators';
import type { ListDescription } from '../api/openapi/listing';
import { customFilters } from '../api/customFields';
import { customFieldsOnce } from '../mapping/acceptedFields';
import type { FilterRow } from '../mapping/filterRows';
import type { ToolArgs } from './toolArgs';
import { meantBy } from './toolFields';
import { toolCollection, type ToolRun } from './toolRun';
import { maxQuery } from './toolSchemas';
import type { ToolKind } from './toolSettings';

/** The fields that a list can be filtered by, the account's own included. */
export async function toolFiltersOf({ api }: ToolRun, kind: ToolKind, list: ListDescription): Promise<FilteredField[]> {
	const custom = list.takesCustomFields ? await customFieldsOnce(api, toolCollection(kind)) : undefined;
	return filteredFields([...list.filters, ...customFilters(list, [...(custom?.fields ?? []), ...(custom?.unwritable ?? [])])]);
}

/**
 * The model's query and filters as rows, as a workflow stores them.
 *
 * @throws Error in the model's words for a field or a comparison that there is not
 */
export async function filterRowsOf(run: ToolRun, kind: ToolKind, list: ListDescription, args: ToolArgs): Promise<FilterRow[]> {
	const fields = await toolFiltersOf(run, kind, list);
	const query = args.text('query', maxQuery);
	if (query !== undefined && list.search === undefined) throw new Error(`Records of the kind ${kind.name} cannot be searched by words. Use filters.`);
	const rows: FilterRow[] = query === undefined ? [] : [{ field: list.search, operator: 'is', value: query }];
	const known = fields.filter(({ name }) => name !== list.search);
	for (const [name, value] of Object.entries(args.object('filters'))) {
		const field = meantBy(known, name, 'filter');
		rows.push(...(isPlainObject(value) ? Object.entries(value as IDataObject) : [['is', value]]).map(([comparison, one]) => rowOf(field, String(comparison), one)));
	}
	return rows;
}

function rowOf(field: FilteredField, comparison: string, value: unknown): FilterRow {
	if (value === null) throw new Error(`${field.name}: null is no value to filter by. Send {"empty": true} for records without one.`);
	const isDay = typeof value === 'string' && /^\s*\d{4}-\d{2}-\d{2}\s*$/.test(value);
	// No moment is a day: it is from its start to its end.
	if (comparison === 'is' && isDay && isInstant(field)) {
		if (operatorsOf(field).some((one) => one.value === 'isOn')) return { field: field.name, operator: 'isOn', date: value };
		throw new Error(`${field.name} is a time, and cannot be filtered by a day. Send a time such as ${value.trim()}T09:00:00Z.`);
	}
	const operators = operatorsOf(field).filter(({ filters }) => filters.length === 1);
	const fits = ({ filters: [first] }: FilterOperator) =>
		first?.[0] === comparison && (comparison !== 'empty' || first[1] === (String(value) !== 'false'));
	const found = comparison === 'is' && Array.isArray(value) ? operators.find((one) => one.value === 'isOneOf') : operators.find(fits);
	if (!found) {
		const possible = [...new Set(operators.flatMap(({ filters: [first] }): Comparison[] => (first ? [first[0]] : [])))];
		const what = Array.isArray(value) ? 'a list' : comparison;
		throw new Error(`${field.name} cannot be filtered by ${what}. It takes ${possible.map((one) => (one === 'is' ? 'a value' : one)).join(', ')}.`);
	}
	return { field: field.name, operator: found.value, [found.takes === 'dates' ? 'date' : 'value']: value };
}
