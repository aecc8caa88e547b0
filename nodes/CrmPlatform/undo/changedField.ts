import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../api/http/json';
import { memberAtPath, ownMember } from '../api/http/ownMembers';

/** Where a record has a changed field, by the name that events give it: `custom_fields.<key>` for a custom field. */
function pathOf(name: string): [string] | ['custom_fields', string] {
	const key = /^custom_fields\.(.+)$/s.exec(name)?.[1];
	return key === undefined ? [name] : ['custom_fields', key];
}

/** The field of a record that has a changed one as a part. */
export const topOf = (field: string): string => field.replace(/\..*$/s, '');

/** The value of a changed field. */
export const valueByName = (record: IDataObject, name: string): unknown => memberAtPath(record, pathOf(name));

/** Whether a record has a changed field, even if empty. */
export function hasByName(record: IDataObject, name: string): boolean {
	const [member, key] = pathOf(name);
	// Events may also name it as one member.
	if (Object.hasOwn(record, name)) return true;
	const values = ownMember(record, member);
	return key !== undefined && isObject(values) && Object.hasOwn(values, key);
}

/** Sets the value of a changed field. */
export function setByName(record: IDataObject, name: string, value: unknown): void {
	const [member, key] = pathOf(name);
	record[member] = (key === undefined ? value : { ...(record[member] as IDataObject | undefined), [key]: value }) as IDataObject;
}

/** The fields of a record by these names, with their values. */
export const namedValuesOf = ({ custom_fields: custom, ...record }: IDataObject): Array<[string, unknown]> => [
	...Object.entries(record),
	...Object.entries((custom ?? {}) as IDataObject).map(([key, value]): [string, unknown] => [`custom_fields.${key}`, value]),
];
