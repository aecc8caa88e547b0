import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { memberAtPath, ownMember, setMember, withMemberAtPath } from '../base/ownMembers';
import { allCustomFields, customFieldPrefix, customKeyOf } from '../fields/field';

/** The path of a field in a record, from the name that events give the field: `custom_fields.<key>` for a custom field. */
const pathOf = (name: string): string[] => name.split('.');

/** The member of a record that contains a field: `custom_fields` for a custom field. */
export const topLevelName = (field: string): string => field.replace(/\..*$/s, '');

/** The name that events give a field, of which a change may name a member: `address` for `address.city`. */
export const nameInEvents = (field: string): string => pathOf(field).slice(0, customKeyOf(field) === undefined ? 1 : 2).join('.');

export const fieldValue = (record: IDataObject, name: string): unknown => memberAtPath(record, pathOf(name));

/** Whether a record has a field, even an empty one. */
export function hasField(record: IDataObject, name: string): boolean {
	const path = pathOf(name);
	const owner = memberAtPath(record, path.slice(0, -1));
	return isObject(owner) && Object.hasOwn(owner, path.at(-1)!);
}

export function setField(record: IDataObject, name: string, value: unknown): void {
	const [member = '', ...inner] = pathOf(name);
	setMember(record, member, inner.length === 0 ? value : withMemberAtPath(ownMember(record, member) as IDataObject | undefined, inner, value));
}

/** The fields of a record, by the names that events give them. */
export const fieldEntries = ({ [allCustomFields]: custom, ...record }: IDataObject): Array<[name: string, value: unknown]> => [
	...Object.entries(record),
	...Object.entries((custom ?? {}) as IDataObject).map(([key, value]): [string, unknown] => [customFieldPrefix + key, value]),
];
