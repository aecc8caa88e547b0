import type { Connection } from '../api/connection';
import type { Collection } from '../api/http/path';
import { isLink } from '../api/openapi/linkFields';
import { onceFor } from '../base/maps';
import { isDigits, elementKind, isNumeric } from '../fields/fieldKinds';
import { type Field, matchesPattern } from '../fields/field';
import { isBlank } from '../values/blank';
import { foldedText, visibleText } from '../values/foldedText';

/** Fields that identify a record. All are tried, since a record may have any of them. */
export const identifyingFields = ['name', 'title', 'label', 'domain', 'email', 'external_id'];

/** The values of some fields for comparisons: another letter is another address, and another case another ID. */
export const identifierForms: Record<string, (text: string) => string> = {
	id: visibleText, external_id: visibleText, domain: foldedText, email: foldedText,
};

/** Patterns that a value of a field must match: services refuse others, and too many refusals end a look-up. */
export const possibleForms: Record<string, RegExp> = { email: /@/, domain: /\./ };

/** Whether a name may be a domain or email, also if it is the name of a record: with other accents, it is another one. */
export const mayBeAddress = (name: string, fields = identifyingFields): boolean =>
	!/\s/.test(name) && fields.some((field) => possibleForms[field]?.test(name));

/** Whether a value is or may be a name. If ids are numbers, that is any text but digits; otherwise, any text but a certain id. */
export function isName(field: Field, value: unknown): value is string {
	if (!hasText(value)) return false;
	if (hasNumbers(field)) return !isDigits(value);
	return !(matchesPattern(field, value.trim()) ?? certainId.test(value.trim()));
}

/** A number, a UUID, or a prefix and 26 characters. */
const certainId = /^(\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{1,16}_[0-9a-z]{26})$/i;

/** Whether a text looks like an id: a word with digits, such as `com_01jz8q4t6v`, which may also be a name: `Messe2024_Halle`. */
export const isIdShaped = (value: string): boolean =>
	certainId.test(value) || /^([a-z]{1,16}[_-](?=\w*\d)\w{6,}|(?=\w*\d)\w{15,})$/i.test(value);

export function hasNumbers(field: Field): boolean {
	const kind = elementKind(field);
	return kind !== undefined && isNumeric({ kind });
}

export const hasText = (value: unknown): value is string => typeof value === 'string' && !isBlank(value);

/** A name with its field, such as `external_id:100123`, or an id, such as `id:acme`. */
const withField = new RegExp(`^(${['id', ...identifyingFields].join('|')}):\\s*(\\S.*)$`, 's');

/** The name in a text, and its field if the text names it. */
export function parseName(text: string): { field?: string; name: string } {
	const [, field, name] = withField.exec(text.trim()) ?? [];
	return field === undefined || name === undefined ? { name: text.trim() } : { field, name };
}

/** Whether a value is or may be a name, and does not say that it is an id. */
export const namesRecord = (field: Field, value: unknown): value is string => isName(field, value) && parseName(value).field !== 'id';

/** The text that limits a name to one field: another record may have it in another field. */
export const textOfName = (field: string, name: string): string => `${field}:${name}`;

/** A value picked from a list is an ID, even if it reads like a name: a link gets `id:acme`, any other field `acme`. */
export function asId(field: Field, picked: unknown): unknown {
	if (Array.isArray(picked)) return picked.map((value) => asId(field, value));
	if (!isName(field, picked)) return picked;
	const { field: nameField, name } = parseName(picked);
	if (!isLink(field)) return nameField === 'id' ? name : picked;
	return nameField === 'id' ? picked : textOfName('id', picked);
}

/** Whether a text can be an id of any service: one word of plain characters. */
export const mayBeId = (value: string): boolean => /^[\w-]{1,64}$/.test(value);

/** The names of records (`/pipelines`) or parts (`/pipelines.stages`) that were read through the connection, by id. */
export const rememberedNames = onceFor<Connection, Map<string, string>>(() => new Map());

export function rememberNames(api: Connection, target: Collection, records: Array<{ id?: unknown; name?: unknown }>): void {
	const names = rememberedNames(api, target);
	for (const { id, name } of records) if (hasText(name)) names.set(String(id), name);
}
