import { z } from 'zod/v4';
import type { customFieldTypes } from '../schemas/custom-fields.ts';
import {
	calendarDate,
	emailAddress,
	phoneNumber,
	pointInTime,
	webAddress,
} from '../schemas/fields.ts';
import { jsonSchema } from '../schemas/json-schema.ts';
import type { StoredRecord } from '../schemas/resource.ts';
import type { Store } from '../store/store.ts';
import { customField } from '../store/table.ts';
import { listFilter, type Filter, valueFilters } from './filters.ts';

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
			return z.string().max(255);
		case 'long_text':
			return z.string().max(65_536);
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
		case 'reference':
			return z.string().min(1).max(64);
	}
}

/**
 * The filter behind `custom_fields.<key>`, with a comparison in brackets where the type has an
 * order.
 */
export function customFieldFilter(
	fields: Map<string, CustomField>,
	parameter: string,
): { key: string; filter: Filter } | undefined {
	const key = /^custom_fields\.(\w+)/.exec(parameter)?.[1];
	const field = key === undefined ? undefined : fields.get(key);
	if (!field) return undefined;
	const name = `custom_fields.${field.key}`;
	const type = customFieldType(field);
	if (field.type !== 'multi_select') {
		const filters = valueFilters(name, customField(field.key), type, field.unique);
		const found = filters.find((filter) => filter.parameter === parameter);
		return found && { key: field.key, filter: { ...found, isIndexed: true } };
	}
	const filter = listFilter(name, `document -> '$.${name}'`, jsonSchema(type, 'output'));
	return filter.parameter === parameter ? { key: field.key, filter } : undefined;
}

const optionOf = ({ options }: CustomField) =>
	z.enum(options.map(({ value }) => value) as [string, ...string[]]);
