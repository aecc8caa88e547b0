import { isObject } from '../base/json';

/** A value as text that does not depend on the order of members. */
export const canonicalText = (value: unknown): string =>
	JSON.stringify(value ?? null, (_, member: unknown) =>
		typeof member === 'object' && member !== null && !Array.isArray(member)
			? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
			: member,
	);

/** Whether two values of a field are the same. */
export const hasSameValue = (a: unknown, b: unknown): boolean => canonicalText(a) === canonicalText(b);

/**
 * Whether a field has no value: nothing, an empty list, or an object without values. Unlike in `values/blank`,
 * an empty text is a value: an undo restores exactly what was there.
 */
export const hasNoValue = (value: unknown): boolean =>
	value === null ||
	value === undefined ||
	(Array.isArray(value) && value.length === 0) ||
	(isObject(value) && Object.values(value).every(hasNoValue));
