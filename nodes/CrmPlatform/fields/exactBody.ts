import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { ExactNumber } from '../base/numbers';
import { memberAtPath, withMemberAtPath } from '../base/ownMembers';
import type { Field } from './field';

/** A body in which numbers that were read as text, since JavaScript would change them, are numbers again. */
export function exactBody(fields: Field[], body: IDataObject): IDataObject {
	return fields.reduce((exact, { kind, items, members = [], path }) => {
		const value = memberAtPath(exact, path);
		const numbers = members.flatMap((member) => (member.kind === 'number' ? [member.path.at(-1)!] : []));
		if (kind === 'number' && typeof value === 'string') return withMemberAtPath(exact, path, ExactNumber.from(value));
		if (!Array.isArray(value) || (items !== 'number' && numbers.length === 0)) return exact;
		const element = (entry: unknown): unknown => {
			if (items === 'number') return ExactNumber.from(entry);
			if (!isObject(entry)) return entry;
			return Object.fromEntries(Object.entries(entry).map(([name, member]) => [name, numbers.includes(name) ? ExactNumber.from(member) : member]));
		};
		return withMemberAtPath(exact, path, value.map(element));
	}, body);
}
