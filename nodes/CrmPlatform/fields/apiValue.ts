import { checkDepth, checkExact, exactNumber, isDecimal } from '../api/http/numbers';
import { isBlank } from '../values/blank';
import { isWellFormed, notWellFormed, toList } from './conversions';
import type { Field } from './field';
import { fieldKinds, valueShape } from './fieldKinds';

/** Whether a value is blank for a field: for a list, so are texts such as `[]` and ` , `; for JSON, objects of blanks. */
export const isBlankFor = ({ kind }: Pick<Field, 'kind'>, value: unknown): boolean => fieldKinds[kind].isBlank(value);

/** Whether a text such as `[]` or ` , ` represents a list without values: unlike an empty list, it clears nothing. */
export const isEmptyListText = (field: Pick<Field, 'kind'>, value: unknown): boolean =>
	typeof value === 'string' && !isBlank(value) && isBlankFor(field, value);

/**
 * Converts a value that a user or an earlier node gave into the value the service takes.
 *
 * Empty text is not a value but null, which clears the field; so is white space, except in text. An unknown
 * choice is sent unchanged, since the service may have added it; a value that cannot fit the field is refused.
 *
 * @param zone IANA time zone of the workflow, for times without one
 * @throws Error in the user's words, the field's label first
 */
export function apiValue(field: Field, value: unknown, zone: string): unknown {
	if (typeof value !== 'string') checkExact(field.label, value);
	else if (!isWellFormed(value)) throw new Error(`${field.label}: ${notWellFormed(value)}`);
	if (isCleared(field, value)) return null;
	const converted = convert(field, value, zone);
	// A text may be JSON.
	if (typeof value === 'string' && typeof converted === 'object') checkDepth(field.label, converted);
	return converted;
}

function convert(field: Field, value: unknown, zone: string): unknown {
	const converted = fieldKinds[field.kind].convert(field, value, zone);
	if (valueShape(field) !== 'list') return converted;
	return (converted as unknown[]).map((element) => apiValue({ ...field, kind: field.items ?? 'choice' }, element, zone));
}

/** Whether a value clears the field. White space in a text is text, and not an id of another record; a list is cleared by an empty list. */
export function isCleared({ kind, reference }: Field, value: unknown): boolean {
	const isText = fieldKinds[kind].whiteSpace === 'text' && reference === undefined && typeof value === 'string';
	return isBlank(value) && !Array.isArray(value) && (!isText || value === '');
}

/** The value of a filter: a number of any length goes into the address of a request as it was given. */
export function filterValue(field: Field, value: unknown, zone: string): unknown {
	const { items } = field;
	if (valueShape(field) === 'list' && items && fieldKinds[items].type === 'number' && !isBlank(value)) {
		return toList(value).map((element) => filterValue({ ...field, kind: items }, element, zone));
	}
	const isLong = typeof value === 'string' && isDecimal(value) && exactNumber(value) === undefined;
	return isLong && fieldKinds[field.kind].type === 'number' ? value.trim() : apiValue(field, value, zone);
}
