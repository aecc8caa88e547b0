import { z } from 'zod/v4';
import type { customFieldTypes } from './custom-fields.ts';
import {
	calendarDate,
	emailAddress,
	phoneNumber,
	plainText,
	pointInTime,
	webAddress,
} from './fields.ts';
import type { StoredRecord } from './resource.ts';
import { users } from './users.ts';

/** The definition of a custom field. */
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

/** The type that parses values of the field. */
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

const optionOf = ({ options }: CustomField) =>
	plainText().pipe(z.enum(options.map(({ value }) => value) as [string, ...string[]]));
