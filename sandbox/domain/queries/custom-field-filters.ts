import { getOrCreate } from '../../core/foundation/json.ts';
import { customFieldType, optionOf } from '../../core/schemas/custom-field-type.ts';
import { type CustomField, customFieldTypes } from '../../core/schemas/custom-fields.ts';
import { jsonSchema } from '../../core/schemas/json-schema.ts';
import type { Resource } from '../../core/schemas/resource.ts';
import { users } from '../../core/schemas/users.ts';
import { customFieldsOf } from '../../core/store/records/custom-fields-of.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';
import { customField } from '../../core/store/records/columns.ts';
import { emptyFilter, type Filter, filtersOf, listFilter, valueFilters } from './filters.ts';

/** Finds the filter of a list by the name of its query parameter, custom fields included. */
export function filterFinder(store: StoreView, resource: Resource) {
	const filters = new Map(filtersOf(resource).map((filter) => [filter.parameter, filter]));
	return (parameter: string): Filter | undefined =>
		filters.get(parameter) ?? customFieldFilter(customFieldsOf(store, resource.name), parameter);
}

/** The filter of `custom_fields.<key>`, with or without an operator in brackets. */
function customFieldFilter(fields: Map<string, CustomField>, parameter: string): Filter | undefined {
	const key = /^custom_fields\.(\w+)/.exec(parameter)?.[1];
	const field = key === undefined ? undefined : fields.get(key);
	return field && filtersOfCustomField(field).find((filter) => filter.parameter === parameter);
}

const filtersByField = new WeakMap<CustomField, Filter[]>();

/** The filters of a custom field, created once for each definition. */
const filtersOfCustomField = (field: CustomField): Filter[] => getOrCreate(filtersByField, field, () => newFilters(field));

function newFilters(field: CustomField): Filter[] {
	const name = `custom_fields.${field.key}`;
	const sql = customField(field.key);
	const type = customFieldType(field);
	const schema = jsonSchema(type, 'output');
	if (field.type === 'multi_select') {
		const list = listFilter(name, `document -> '$.${name}'`, schema, optionOf(field));
		return [list, emptyFilter(name, sql, schema, '[]')];
	}
	return [...valueFilters(name, sql, type), emptyFilter(name, sql, schema)];
}

/** The filters by a custom field of each type. */
const filtersByType = (): Array<[type: string, filters: Filter[]]> => {
	const sample = { key: 'x', options: [{ value: 'x' }], reference_resource: users.name };
	return customFieldTypes.map((type) => [type, filtersOfCustomField({ ...sample, type } as CustomField)]);
};

/** The operators of custom-field filters by type of field: `gte`, `contains`. */
export function customFieldOperators(): Record<string, string[]> {
	return Object.fromEntries(
		filtersByType().map(([type, filters]) => [
			type,
			filters.flatMap(({ parameter }) => /\[(\w+)\]$/.exec(parameter)?.[1] ?? []),
		]),
	);
}

/** The types of custom fields that are filtered by several values at once, separated by commas. */
export const customFieldListTypes = (): string[] =>
	filtersByType().flatMap(([type, filters]) => (filters.some(({ takesList }) => takesList) ? [type] : []));
