import { parseJson } from '../base/json';
import { maxLevels } from '../base/numbers';
import { isPlainObject } from '../base/ownMembers';
import { showsNothing, trimmed } from './foldedText';

/** Whether a value is blank: null, undefined, a text in which nothing is seen, or a list of blanks. */
export const isBlank = (value: unknown): boolean => isBlankAt(0, value);

/** A value nested too deeply is not blank: it is refused when it is sent. */
function isBlankAt(depth: number, value: unknown): boolean {
	if (Array.isArray(value)) return depth <= maxLevels && value.every((element) => isBlankAt(depth + 1, element));
	return value === null || value === undefined || (typeof value === 'string' && showsNothing(value));
}

/** Whether a value is blank, or an object of nothing but blanks. */
export const hasOnlyBlanks = (value: unknown): boolean =>
	isBlank(value) || (isPlainObject(value) && Object.values(value).every(hasOnlyBlanks));

/**
 * Removes the blanks within objects and lists, and objects that have only blanks. null is kept: it stands for no value. A list within
 * a list stays as it is, since the places of its values may have a meaning.
 *
 * @param blankMembers whether a blank member of an object becomes null, which clears it, or is dropped. Within a list,
 * which is replaced as a whole, it is always dropped.
 * @param depth of a value within another: one nested too deeply stays as it is, and is refused when it is sent
 */
export function withoutBlanks(value: unknown, blankMembers: 'null' | 'drop', depth = 0): unknown {
	if (depth > maxLevels) return value;
	if (Array.isArray(value)) {
		return value.flatMap((element: unknown) => {
			if (Array.isArray(element)) return [element];
			const cleaned = withoutBlanks(element, 'drop', depth + 1);
			return isRemoved(cleaned, element) ? [] : [cleaned];
		});
	}
	if (!isPlainObject(value)) return value;
	const members = Object.entries(value).flatMap(([name, member]): Array<[string, unknown]> => {
		const cleaned = withoutBlanks(member, blankMembers, depth + 1);
		if (!isRemoved(cleaned, member)) return [[name, cleaned]];
		return blankMembers === 'null' && !hasOnlyUndefined(member) ? [[name, null]] : [];
	});
	return Object.fromEntries(members);
}

/** Whether a value is undefined, or an object or a list of nothing else: it clears nothing. */
export function hasOnlyUndefined(value: unknown, depth = 0): boolean {
	if (depth > maxLevels) return false;
	const members = isPlainObject(value) || Array.isArray(value) ? Object.values(value) : [];
	return value === undefined || (members.length > 0 && members.every((member) => hasOnlyUndefined(member, depth + 1)));
}

/** @param original before its blanks were removed: an object that was empty before is a value */
const isRemoved = (cleaned: unknown, original: unknown): boolean =>
	cleaned !== null &&
	(isBlank(cleaned) || (isPlainObject(cleaned) && Object.keys(cleaned).length === 0 && Object.keys(original as object).length > 0));

/** The values of a list, or in a text that stands for one: JSON, or separated by commas. A single value is a list of one. */
export function listIn(value: unknown): unknown[] {
	if (typeof value !== 'string') return [value ?? []].flat();
	const parsed = parseJson(value);
	if (Array.isArray(parsed)) return parsed;
	return value.split(',').map(trimmed).filter((text) => text !== '');
}
