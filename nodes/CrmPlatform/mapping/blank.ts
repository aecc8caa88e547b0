import { parseJson } from '../api/http/json';
import { maxLevels } from '../api/http/numbers';
import type { Field } from '../api/openapi/schemaFields';

/** Whether a value is blank: null, undefined, white space, and a list of nothing else. */
export const isBlank = (value: unknown): boolean => isBlankAt(0, value);

/** What is nested too deep is not a blank: it is refused where it is sent. */
function isBlankAt(depth: number, value: unknown): boolean {
	if (Array.isArray(value)) return depth <= maxLevels && value.every((one) => isBlankAt(depth + 1, one));
	return value === null || value === undefined || (typeof value === 'string' && value.trim() === '');
}

/** The same for the value of a field: where a list is meant, so are texts such as `[]` and ` , `, and objects of blanks in it. */
export function isBlankFor({ kind }: Pick<Field, 'kind'>, value: unknown): boolean {
	if (kind === 'list' && typeof value === 'string') return isBlank(listIn(value));
	return isBlank(kind === 'json' && !isPlainObject(value) ? withoutBlanks(typeof value === 'string' ? (parseJson(value) ?? value) : value) : value);
}

/**
 * Objects and lists without the blanks in them: null stands for no value, and stays. In a list, which is
 * replaced as a whole, a blank and an object of nothing else are left out.
 *
 * @param isCleared whether a blank in an object that is not in a list becomes null, which clears it
 */
export function withoutBlanks(value: unknown, isCleared = false, depth = 0): unknown {
	if (depth > maxLevels) return value;
	if (Array.isArray(value)) {
		return value.flatMap((one: unknown) => {
			const left = withoutBlanks(one, false, depth + 1);
			return left !== null && isNothing(left, one) ? [] : [left];
		});
	}
	if (!isPlainObject(value)) return value;
	const members = Object.entries(value).flatMap(([name, one]): Array<[string, unknown]> => {
		const left = withoutBlanks(one, isCleared, depth + 1);
		if (left === null || !isNothing(left, one)) return [[name, left]];
		return isCleared ? [[name, null]] : [];
	});
	return Object.fromEntries(members);
}

/** @param whole with its blanks: an object that has always been empty is a value */
const isNothing = (left: unknown, whole: unknown): boolean =>
	isBlank(left) || (isPlainObject(left) && Object.keys(left).length === 0 && Object.keys(whole as object).length > 0);

/** No, as services write it: false, zero, and the zero date of MySQL. */
export const isNo = (value: unknown): boolean => /^(false|no|n|0|0000-00-00.*)$/i.test(String(value));

/** Whether a value is an object of JSON: a Date or a DateTime is one value. */
export function isPlainObject(value: unknown): value is object {
	const prototype: unknown = typeof value === 'object' && value !== null ? Object.getPrototypeOf(value) : undefined;
	// Of any context: n8n evaluates expressions in one of their own.
	return prototype === null || (prototype !== undefined && Object.getPrototypeOf(prototype) === null && !Array.isArray(value));
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
