import { isDigits, matchesPattern } from '../fields/conversions';
import type { Field } from '../fields/field';
import { fieldKinds } from '../fields/fieldKinds';

/** Fields that identify a record. All are tried, since a record may have any of them. */
export const identifyingFields = ['name', 'title', 'label', 'domain', 'email', 'external_id'];

/** Whether a value is a name, or may be one; where ids are numbers, all but digits. */
export function isName(field: Field, value: unknown): value is string {
	if (!hasText(value)) return false;
	if (hasNumbers(field)) return !isDigits(value);
	return !(matchesPattern(field, value.trim()) ?? isIdShaped(value.trim()));
}

/** Whether the values of a field are numbers. */
export function hasNumbers({ kind, items }: Field): boolean {
	const kindOfOne = fieldKinds[kind].shape === 'list' ? items : kind;
	return kindOfOne !== undefined && fieldKinds[kindOfOne].type === 'number';
}

/** Whether a value is a text with anything in it. */
export const hasText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** Numbers, UUIDs, and words with a prefix such as `com_01jz8q4t6v`: what services use for ids. */
function isIdShaped(value: string): boolean {
	return /^(\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{1,16}[_-](?=\w*\d)\w{6,}|(?=\w*\d)\w{15,})$/i.test(value);
}

/** A name that says which field it is of, such as `external_id:100123`, or that it is an id. */
const withField = new RegExp(`^(${['id', ...identifyingFields].join('|')}):\\s*(\\S.*)$`, 's');

/** The name in a text, and the field it is of, where the text says so. */
export function parseName(text: string): { field?: string; name: string } {
	const [, field, name] = withField.exec(text.trim()) ?? [];
	return field === undefined || name === undefined ? { name: text.trim() } : { field, name };
}

/** The text that limits a name to this field: another record may have it in another field. */
export const textOfName = (field: string, name: string): string => `${field}:${name}`;

/** A value picked from a list is an ID, even if it reads like a name. */
export function asId(field: Field, picked: unknown): unknown {
	if (Array.isArray(picked)) return picked.map((value) => asId(field, value));
	return isName(field, picked) ? textOfName('id', picked) : picked;
}

/** Whether a text can be an id in some service: one word of plain characters. */
export const mayBeId = (value: string): boolean => /^[\w-]{1,64}$/.test(value);
