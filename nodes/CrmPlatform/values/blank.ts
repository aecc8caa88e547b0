import { parseJson } from '../base/json';
import { maxLevels } from '../base/numbers';
import { isPlainObject } from '../base/ownMembers';

/** Whether a value is blank: null, undefined, white space, or a list of blanks. */
export const isBlank = (value: unknown): boolean => isBlankAt(0, value);

/** A value nested too deep is not blank: it is refused when it is sent. */
function isBlankAt(depth: number, value: unknown): boolean {
	if (Array.isArray(value)) return depth <= maxLevels && value.every((element) => isBlankAt(depth + 1, element));
	return value === null || value === undefined || (typeof value === 'string' && value.trim() === '');
}

/** Whether a value is blank, or an object whose members are all unset. */
export const isUnset = (value: unknown): boolean => isBlank(value) || (isPlainObject(value) && Object.values(value).every(isUnset));

/**
 * Objects and lists without the blanks in them: null stands for no value, and stays. In a list, which is
 * replaced as a whole, blanks and objects of blanks are left out.
 *
 * @param blankMembers what becomes of a blank in an object that is not in a list: null clears it
 */
export const withoutBlanks = (value: unknown, blankMembers: BlankMembers): unknown => withoutBlanksAt(0, value, blankMembers);

type BlankMembers = 'null' | 'drop';

function withoutBlanksAt(depth: number, value: unknown, blankMembers: BlankMembers): unknown {
	if (depth > maxLevels) return value;
	if (Array.isArray(value)) {
		return value.flatMap((element: unknown) => {
			const left = withoutBlanksAt(depth + 1, element, 'drop');
			return left !== null && isNothing(left, element) ? [] : [left];
		});
	}
	if (!isPlainObject(value)) return value;
	const members = Object.entries(value).flatMap(([name, member]): Array<[string, unknown]> => {
		const left = withoutBlanksAt(depth + 1, member, blankMembers);
		if (left === null || !isNothing(left, member)) return [[name, left]];
		return blankMembers === 'null' ? [[name, null]] : [];
	});
	return Object.fromEntries(members);
}

/** @param original with its blanks: an object that has always been empty is a value */
const isNothing = (left: unknown, original: unknown): boolean =>
	isBlank(left) || (isPlainObject(left) && Object.keys(left).length === 0 && Object.keys(original as object).length > 0);

/** The values in a text that stands for a list: JSON, or separated by commas. */
export function listIn(text: string): unknown[] {
	const parsed = parseJson(text);
	if (Array.isArray(parsed)) return parsed;
	return text
		.split(',')
		.map((part) => part.trim())
		.filter((part) => part !== '');
}
