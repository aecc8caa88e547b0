import { isObject } from '../api/http/json';

/** A value as text, whatever the order of its members. */
export const canonical = (value: unknown): string =>
	JSON.stringify(value ?? null, (_, one: unknown) =>
		typeof one === 'object' && one !== null && !Array.isArray(one)
			? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
			: one,
	);

/** Whether two values of a field are the same. */
export const hasSameValue = (one: unknown, other: unknown): boolean => canonical(one) === canonical(other);

/** Whether a field has no value: nothing, an empty list, or an object without values. */
export const isEmpty = (value: unknown): boolean =>
	value === null || value === undefined || (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.values(value).every(isEmpty));
