import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { memberAtPath, ownMember } from '../base/ownMembers';
import { allCustomFields, customFieldPrefix, customKeyOf } from '../fields/field';

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
