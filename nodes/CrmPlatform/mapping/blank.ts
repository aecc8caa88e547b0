import { parseJson } from '../api/http/json';
import type { Field } from '../api/openapi/fields';

/** Whether a value is blank: null, undefined, white space, and a list of nothing else. */
export function isBlank(value: unknown): boolean {
	if (Array.isArray(value)) return value.every(isBlank);
	return value === null || value === undefined || (typeof value === 'string' && value.trim() === '');
}

/** The same for the value of a field: where a list is meant, so are texts such as `[]` and ` , `. */
export function isBlankFor({ kind }: Pick<Field, 'kind'>, value: unknown): boolean {
	return isBlank(kind === 'list' && typeof value === 'string' ? listIn(value) : value);
}

/** Whether a text that stands for a list, such as `[]` and ` , `, has nothing in it: unlike an empty list, it clears nothing. */
export const isEmptyListText = (field: Pick<Field, 'kind'>, value: unknown): boolean =>
	typeof value === 'string' && !isBlank(value) && isBlankFor(field, value);

/** The values in a text that stands for a list: JSON, or separated by commas. */
export function listIn(text: string): unknown[] {
	const parsed = parseJson(text);
	if (Array.isArray(parsed)) return parsed;
	return text
		.split(',')
		.map((part) => part.trim())
		.filter((part) => part !== '');
}
