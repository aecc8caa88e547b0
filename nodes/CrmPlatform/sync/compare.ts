import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../api/http/json';
import { ownMember, setMember } from '../api/http/ownMembers';
import { normalised, type ComparedField } from '../mapping/keys';

export { matchKey, valueIn, type ComparedField } from '../mapping/keys';

/** One value that differs between the source and the CRM. */
export interface Change {
	/** Dotted where it is part of an object: `address.city`. */
	field: string;
	/** The value in the CRM; null where it has none. */
	from: unknown;
	/** The value in the source. */
	to: unknown;
}

/** What has to be written to make a record agree with its source. */
export interface Difference {
	changes: Change[];
	/** A merge patch (RFC 7396) with the values that differ, and no others. */
	patch: IDataObject;
}

/**
 * Compares records as the service stores them: what it keeps in lower case is equal in any case, and
 * two notations of one instant are equal. Only values that are given count, also within objects and
 * within the objects of a list. No value, null, an empty text and an empty list are the same.
 *
 * @param fields the fields that records are written with
 */
export function comparison(fields: ComparedField[]) {
	const byName = new Map(fields.map((field) => [field.path.join('.'), field]));

	const objectDifference = (
		stored: unknown,
		given: IDataObject,
		prefix: string,
		around: ComparedField | undefined,
		changes: Change[],
	): IDataObject => {
		const patch: IDataObject = {};
		const before = isObject(stored) ? stored : {};
		for (const [key, value] of Object.entries(given)) {
			if (value === undefined) continue;
			const name = prefix + key;
			const field = byName.get(name) ?? around;
			const own = ownMember(before, key);
			if (isObject(value) && Object.keys(value).length > 0) {
				const count = changes.length;
				const inner = objectDifference(own, value, `${name}.`, field, changes);
				if (changes.length > count) setMember(patch, key, inner);
			} else if (!isCovered(own, value, field, pathWithin(name, field))) {
				changes.push({ field: name, from: own ?? null, to: value });
				setMember(patch, key, value);
			}
		}
		return patch;
	};

	return (stored: IDataObject, given: IDataObject): Difference => {
		const changes: Change[] = [];
		const patch = objectDifference(stored, given, '', undefined, changes);
		return { changes, patch };
	};
}

function isCovered(
	stored: unknown,
	given: unknown,
	field: ComparedField | undefined,
	within: string,
): boolean {
	if (isUnset(given)) return isUnset(stored);
	if (Array.isArray(given)) {
		const place = within === '' ? '*' : `${within}.*`;
		return (
			Array.isArray(stored) &&
			stored.length === given.length &&
			given.every((value, i) => isCovered(stored[i], value, field, place))
		);
	}
	if (isObject(given)) {
		if (!isObject(stored)) return Object.values(given).every((value) => value === undefined || isUnset(value));
		return Object.entries(given).every(
			([key, value]) =>
				value === undefined ||
				isCovered(ownMember(stored, key), value, field, within === '' ? key : `${within}.${key}`),
		);
	}
	return normalised(stored, field, within) === normalised(given, field, within);
}

/** The place of a value within its field: empty for the field's own value, `*.value` in a list of objects. */
function pathWithin(name: string, field: ComparedField | undefined): string {
	const whole = field?.path.join('.') ?? name;
	return name === whole ? '' : name.slice(whole.length + 1);
}

function isUnset(value: unknown): boolean {
	return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}
