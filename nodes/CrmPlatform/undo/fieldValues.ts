import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { memberAtPath, ownMember } from '../base/ownMembers';
import { allCustomFields, customFieldPrefix, customKeyOf } from '../fields/field';

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

/** The path of a field in a record, from the name that events give the field: `custom_fields.<key>` for a custom field. */
function pathOf(name: string): [member: string] | [member: string, key: string] {
	const key = customKeyOf(name);
	return key === undefined ? [name] : [allCustomFields, key];
}

/** The member of a record that contains a field: `custom_fields` for a custom field. */
export const topLevelName = (field: string): string => field.replace(/\..*$/s, '');

export const fieldValue = (record: IDataObject, name: string): unknown => memberAtPath(record, pathOf(name));

/** Whether a record has a field, even an empty one. */
export function hasField(record: IDataObject, name: string): boolean {
	const [member, key] = pathOf(name);
	// Events may also name it as one member.
	if (Object.hasOwn(record, name)) return true;
	const values = ownMember(record, member);
	return key !== undefined && isObject(values) && Object.hasOwn(values, key);
}

export function setField(record: IDataObject, name: string, value: unknown): void {
	const [member, key] = pathOf(name);
	record[member] = (key === undefined ? value : { ...(record[member] as IDataObject | undefined), [key]: value }) as IDataObject;
}

/** The fields of a record, by the names that events give them. */
export const fieldEntries = ({ [allCustomFields]: custom, ...record }: IDataObject): Array<[name: string, value: unknown]> => [
	...Object.entries(record),
	...Object.entries((custom ?? {}) as IDataObject).map(([key, value]): [string, unknown] => [customFieldPrefix + key, value]),
];

/** The fields in a change, with their values: a record that is created again has all custom fields in one change. */
export const partsOf = (field: string, to: unknown): Array<[name: string, value: unknown]> =>
	field === allCustomFields && isObject(to) ? Object.entries(to).map(([key, value]) => [customFieldPrefix + key, value]) : [[field, to]];
