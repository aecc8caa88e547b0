import { z } from 'zod/v4';
import { getOrCreate } from '../foundation/json.ts';
import type { CustomField } from './custom-fields.ts';
import { calendarDate, emailAddress, phoneNumber, plainText, pointInTime, storedNumber, webAddress } from './fields.ts';
import { users } from './users.ts';

const types = new WeakMap<CustomField, z.ZodType>();

/** The type that parses values of the field; it is created once for each definition. */
export const customFieldType = (field: CustomField): z.ZodType => getOrCreate(types, field, () => typeOf(field));

function typeOf(field: CustomField): z.ZodType {
	switch (field.type) {
		case 'text':
			return plainText().max(255);
		case 'long_text':
			return plainText().max(65_536);
		case 'number':
			return storedNumber;
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
			return referenceTo(field.type === 'user' ? users.name : field.reference_resource);
	}
}

const referenceTypes = new Map<string | null, z.ZodType>();

/** The type of a reference, created once for each resource, because zod's registry keeps every schema with metadata. */
const referenceTo = (target: string | null): z.ZodType =>
	getOrCreate(referenceTypes, target, () => z.string().min(1).max(64).meta({ 'x-resource': target }));

/** The type of one option. */
export const optionOf = ({ options }: CustomField) =>
	plainText().pipe(z.enum(options.map(({ value }) => value) as [string, ...string[]]));
