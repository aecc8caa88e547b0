import { z } from 'zod/v4';
import { about, countryCode, type FieldMetadata, optional, text } from './fields.ts';

export const lifecycleStages = [
	'lead', 'marketing_qualified', 'sales_qualified', 'opportunity', 'customer', 'former_customer', 'other',
] as const;

export const postalAddress = (description: string) =>
	optional(
		z.strictObject({
			street: text(about('Street and house number.', 'Calle de Alcalá 50')),
			city: text(about('Town or city.', 'Madrid')),
			state: text(about('State, province or region.', 'Madrid')),
			postal_code: text(about('Postal or ZIP code.', '28014'), 20),
			country: optional(countryCode, about('Two-letter country code.', 'ES')),
		}),
		{ title: 'Address', description },
	);

/** BCP 47 language tag. */
export const languageTag = (metadata: FieldMetadata) =>
	optional(
		z.string().max(35)
			.regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, { message: 'Write a language as a tag such as en or pt-BR.' }),
		metadata,
	);

/** A name of the IANA time zone database. */
export const timeZone = (metadata: FieldMetadata) =>
	optional(z.string().max(64).refine(isTimeZone, { message: 'Unknown time zone. Use a name such as Europe/Madrid.' }), metadata);

/** The usual spellings, which are checked first: creating a date format takes a tenth of a millisecond. */
const timeZones: ReadonlySet<string> = new Set(Intl.supportedValuesOf('timeZone'));

function isTimeZone(name: string): boolean {
	if (timeZones.has(name)) return true;
	try {
		new Intl.DateTimeFormat('en', { timeZone: name });
		return /^[A-Za-z]/.test(name);
	} catch {
		return false;
	}
}
