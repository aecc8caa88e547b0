import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { memberAtPath, ownMember } from '../base/ownMembers';
import { isBlank } from '../values/blank';
import { trimmed } from '../values/foldedText';
import type { Field } from './field';
import { elementKind, fieldKinds } from './fieldKinds';

/** The properties of a field that decide whether two of its values are the same for the service. */
export type ComparedField = Pick<Field, 'name' | 'path' | 'kind' | 'items' | 'lowerCase' | 'isUrl' | 'target' | 'linksTo'>;

/**
 * The key of a value: values that the service considers equal have the same key. It ignores surrounding white space,
 * and how letters with accents are composed (NFC).
 *
 * @returns undefined for a blank, and for a value that cannot be a key: an object, a boolean, NaN, Infinity
 */
export function matchKey(field: ComparedField, value: unknown): string | undefined {
	const isNotFinite = typeof value === 'number' && !Number.isFinite(value);
	if (isBlank(value) || typeof value === 'object' || typeof value === 'boolean' || isNotFinite) return undefined;
	return trimmed(String(canonicalForm(value, field, ''))) || undefined;
}

/**
 * A loose form of a text: without case, separators, brackets and quotes, leading zeros and zero decimals, and the
 * beginning of a web address, which people, spreadsheets and services write differently. Two texts with the same loose
 * form may mean the same value, but need not.
 */
export function looseText(value: unknown): string {
	const rawText = typeof value === 'object' ? JSON.stringify(value) : String(value);
	const text = trimmed(rawText.normalize('NFKC'))
		.toLowerCase()
		.replace(/^[=<{['"`\u2018\u2019#]+|[>}\]'"`\u2018\u2019;,./]+$/g, '')
		.replace(/^(?:[a-z][a-z\d+.-]*:\/\/)?(?:www\.)?/, '');
	const compact = text.replace(/[\s()/]|(?<=\w|\))-(?=\w|\()/g, '');
	const integer = /^\+?0*(\d+)(?:[.,]0*)?$/.exec(compact)?.[1];
	if (integer !== undefined) return integer;
	const number = compact === '' ? NaN : Number(compact);
	return Number.isSafeInteger(number) ? String(number) : compact;
}

export const valueIn = (record: IDataObject, { path }: Pick<Field, 'path'>): unknown => memberAtPath(record, path);

/** The name of the list whose main value a field has: `emails` for `email`. */
export const listNameOf = ({ name }: Pick<Field, 'name'>): string => `${name}s`;

/** The entries of that list: texts, or objects with a value. A link has no such list: `contact_ids` are others than `contact_id`. */
export function entriesIn(values: IDataObject, field: Pick<Field, 'name' | 'target'>): unknown[] {
	const list = field.target === undefined ? ownMember(values, listNameOf(field)) : undefined;
	return Array.isArray(list) ? (list as unknown[]) : [];
}

export const entryValue = (entry: unknown): unknown => (isObject(entry) ? entry.value : entry);

/** The values of a field: its own, and those of its list. */
export const allValuesIn = (values: IDataObject, field: Pick<Field, 'name' | 'path' | 'target'>): unknown[] =>
	[valueIn(values, field), ...entriesIn(values, field).map(entryValue)];

/**
 * A value in canonical form: texts in NFC, and in lower case if the service stores them so; web addresses in
 * one notation.
 *
 * @param within its place in the field, as in `lowerCase`: empty for the field's own value
 */
export function canonicalForm(value: unknown, field: ComparedField | undefined, within: string): unknown {
	const composed = typeof value === 'string' ? value.normalize('NFC') : value;
	if (field === undefined || typeof composed !== 'string') return composed;
	const text = field.lowerCase?.includes(within) ? composed.toLowerCase() : composed;
	// What is said of the values of a list is said of each.
	const kind = within === '' || within === '*' ? elementKind(field) : undefined;
	if (kind === undefined) return text;
	// `HTTPS://One.example` is `https://one.example/` (RFC 3986, section 6).
	if (field.isUrl) return URL.canParse(text) ? new URL(text).href : text;
	return fieldKinds[kind].compared(text);
}
