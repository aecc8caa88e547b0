import { isObject } from '../api/http/json';

/** A value as text, whatever the order of its members. */
export const canonical = (value: unknown): string =>
	JSON.stringify(value ?? null, (_, member: unknown) =>
		typeof member === 'object' && member !== null && !Array.isArray(member)
			? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
			: member,
	);

/** Whether two values of a field are the same. */
export const hasSameValue = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

/** Whether a field has no value: nothing, an empty list, or an object without values. */
export const isEmpty = (value: unknown): boolean =>
	value === null || value === undefined || (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.values(value).every(isEmpty));
