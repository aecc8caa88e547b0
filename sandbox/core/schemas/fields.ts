import { z } from 'zod/v4';

/** A string of the API that is not a field of a record. */
export const describedText = (description: string) => z.string().meta({ description });

/** The metadata of a field, for people who fill in a form and for programs. */
export interface FieldMetadata {
	/** The label of the field; if empty, it follows from the name: `company_id` is Company. */
	title: string;
	/** One short sentence, shown below the field. */
	description: string;
	examples?: unknown[];
	/** Set by the service, never by a client. */
	readOnly?: boolean;
	/** Can be set on create only. */
	'x-immutable'?: boolean;
	/** Shown first in forms; the definition of the resource lists these fields. */
	'x-important'?: boolean;
	/** Stored in lower case: values that differ only in case are equal. */
	'x-lower-case'?: boolean;
	/** The resource whose id is the value. */
	'x-resource'?: string;
	/** The list in another resource's records that contains the item with this id. */
	'x-item-of'?: string;
}

/** Describes a field, with an example. Its title follows from its name, unless there is another. */
export const about = (description: string, example?: unknown, more: Partial<FieldMetadata> = {}) => ({
	title: '',
	description,
	...(example !== undefined && { examples: [example] }),
	...more,
});

/** Describes a field that only the service sets. */
export const readOnly = (description: string, example?: unknown, more: Partial<FieldMetadata> = {}) =>
	about(description, example, { ...more, readOnly: true });

/** A field that may be absent or null; both are stored as null. */
export const optional = <T extends z.ZodType>(schema: T, metadata: FieldMetadata) =>
	schema.nullable().default(null as never).meta({ ...metadata });

/**
 * Text in normal form NFC (UAX #15), so that texts that look the same are equal in comparisons, lookups
 * and unique fields.
 */
export const plainText = () => z.string().normalize('NFC');

/** Text of at least one character. */
export const requiredText = (maxLength: number) => plainText().min(1).max(maxLength);

/** A name in paths and JSON that clients choose. */
export const keyText = (pattern: string) =>
	z.string().regex(new RegExp(`^${pattern}$`), {
		message: 'A key consists of lower-case letters, digits and underscores, and begins with a letter.',
	});

export const text = (metadata: FieldMetadata, maxLength = 255) => optional(plainText().max(maxLength), metadata);

export const choice = <const T extends readonly [string, ...string[]]>(values: T, metadata: FieldMetadata) =>
	optional(z.enum(values), metadata);

/** A choice that is never empty: an absent or cleared value becomes `standard`. */
export const choiceOr = <const T extends readonly [string, ...string[]]>(
	standard: T[number],
	values: T,
	metadata: FieldMetadata,
) => z.enum(values).default(standard as never).meta({ ...metadata });

/** A number that is stored as it was sent: JavaScript would change the digits of larger ones without a word. */
export const storedNumber = z
	.number()
	.refine((value) => !Number.isInteger(value) || Number.isSafeInteger(value), 'Expected a number between -2^53 and 2^53');

export const number = (metadata: FieldMetadata) => optional(storedNumber, metadata);

/** The id of a record of another resource. */
export const reference = (resource: string, metadata: FieldMetadata) =>
	optional(z.string().min(1).max(64), { ...metadata, 'x-resource': resource });

/** The ids of records of another resource. */
export const references = (resource: string, metadata: FieldMetadata) =>
	z.array(z.string().min(1).max(64)).max(100).default([]).meta({ ...metadata, 'x-resource': resource });

/** Stored in lower case, so that each address has one value. At most 254 characters (RFC 5321, 4.5.3.1.3). */
export const emailAddress = z.email().max(254).toLowerCase().meta({ 'x-lower-case': true });
export const email = (metadata: FieldMetadata) => optional(emailAddress, metadata);

/** ITU-T E.164: a plus sign and at most 15 digits. */
export const phoneNumber = z.string().regex(/^\+[1-9]\d{6,14}$/, {
	message: 'Write a phone number with a plus sign and the country code, such as +4930123456.',
});
export const phone = (metadata: FieldMetadata) => optional(phoneNumber, metadata);

export const webAddress = z.url({ protocol: /^https?$/ }).max(2048);
export const url = (metadata: FieldMetadata) => optional(webAddress, metadata);

export const calendarDate = z.iso.date();

/** RFC 3339 with any offset; stored as UTC with milliseconds, so that instants compare as texts. */
export const pointInTime = z.iso.datetime({ offset: true, abort: true }).overwrite(toUtc)
	.refine((value) => /^\d{4}-.*\.\d{3}Z$/.test(value), { message: 'Write a time such as 2025-03-01T09:30:00.000Z.' });
export const instant = (metadata: FieldMetadata) => optional(pointInTime, metadata);

/** ISO 3166-1 alpha-2. */
export const countryCode = z.string().regex(/^[A-Z]{2}$/, { message: 'Write a country as its two-letter code, such as DE.' });

/** ISO 4217. */
export const currency = (metadata: FieldMetadata) =>
	optional(z.string().regex(/^[A-Z]{3}$/, { message: 'Write a currency as its three-letter code, such as EUR.' }), metadata);

function toUtc(value: string): string {
	const time = Date.parse(value);
	return Number.isNaN(time) ? value : new Date(time).toISOString();
}
