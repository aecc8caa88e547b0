import { z } from 'zod/v4';
import { customFieldTypes } from '../schemas/custom-fields.ts';
import {
	calendarDate,
	emailAddress,
	phoneNumber,
	plainText,
	pointInTime,
	webAddress,
} from '../schemas/fields.ts';
import { jsonSchema } from '../schemas/json-schema.ts';
import type { Resource, StoredRecord } from '../schemas/resource.ts';
import { users } from '../schemas/users.ts';
import type { Store } from '../store/store.ts';
import { customField } from '../store/table.ts';
import { emptyFilter, type Filter, filtersOf, listFilter, valueFilters } from './filters.ts';

/** A custom field as the account has defined it. */
export interface CustomField extends StoredRecord {
	key: string;
	label: string;
	type: (typeof customFieldTypes)[number];
	options: Array<{ value: string }>;
	reference_resource: string | null;
	required: boolean;
	unique: boolean;
	read_only: boolean;
	archived_at: string | null;
}

/** The custom fields of a resource, archived ones included, by key. */
export function customFieldsOf(store: Store, resource: string): Map<string, CustomField> {
	const table = store.whole.table('custom-fields')!;
	return table.remember(`of ${resource}`, () => {
		const ofResource = { sql: '"resource" = ?', values: [resource] };
		const found = table.findAll([ofResource], 10_000) as CustomField[];
		return new Map(found.map((field) => [field.key, field]));
	});
}

/** What parses a value of the field. */
export function customFieldType(field: CustomField): z.ZodType {
	switch (field.type) {
		case 'text':
			return plainText().max(255);
		case 'long_text':
			return plainText().max(65_536);
		case 'number':
			return z.number();
		case 'boolean':
			return z.boolean();
		case 'date':
			return calendarDate;
		case 'datetime':
			return pointInTime;
		case 'select':
			return optionOf(field);
		case 'multi_select':
			return z.array(optionOf(field)).max(500);
		case 'url':
			return webAddress;
		case 'email':
			return emailAddress;
		case 'phone':
			return phoneNumber;
		case 'user':
		case 'reference': {
			const target = field.type === 'user' ? users.name : field.reference_resource;
			return z.string().min(1).max(64).meta({ 'x-resource': target });
		}
	}
}

/** Finds the filter of a list by the name of its query parameter, custom fields included. */
export function filterFinder(store: Store, resource: Resource) {
	const filters = new Map(filtersOf(resource).map((filter) => [filter.parameter, filter]));
	return (parameter: string): Filter | undefined => {
		const filter =
			filters.get(parameter) ?? customFieldFilter(customFieldsOf(store, resource.name), parameter);
		const { indexedField } = filter ?? {};
		if (indexedField !== undefined) store.table(resource.name)!.indexCustomField(indexedField);
		return filter;
	};
}

/** The filter behind `custom_fields.<key>`, or the same with an operator in brackets. */
function customFieldFilter(
	fields: Map<string, CustomField>,
	parameter: string,
): Filter | undefined {
	const key = /^custom_fields\.(\w+)/.exec(parameter)?.[1];
	const field = key === undefined ? undefined : fields.get(key);
	return field && filtersOfCustomField(field).find((filter) => filter.parameter === parameter);
}

function filtersOfCustomField(field: CustomField): Filter[] {
	const name = `custom_fields.${field.key}`;
	const sql = customField(field.key);
	const type = customFieldType(field);
	const schema = jsonSchema(type, 'output');
	if (field.type === 'multi_select') {
		const list = listFilter(name, `document -> '$.${name}'`, schema);
		return [list, emptyFilter(name, sql, schema, '[]')];
	}
	const values = valueFilters(name, sql, type, field.unique);
	const indexed = values.map((filter) => ({ ...filter, indexedField: field.key }));
	return [...indexed, emptyFilter(name, sql, schema)];
}

/** By type of custom field, the operators that its filter takes in brackets: `gte`, `contains`. */
export function customFieldOperators(): Record<string, string[]> {
	const sample = { key: 'x', options: [{ value: 'x' }], reference_resource: users.name };
	return Object.fromEntries(
		customFieldTypes.map((type) => {
			const filters = filtersOfCustomField({ ...sample, type } as CustomField);
			return [type, filters.flatMap(({ parameter }) => /\[(\w+)\]$/.exec(parameter)?.[1] ?? [])];
		}),
	);
}

const optionOf = ({ options }: CustomField) =>
	plainText().pipe(z.enum(options.map(({ value }) => value) as [string, ...string[]]));
