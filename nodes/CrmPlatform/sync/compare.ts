import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { ownMember, setMember } from '../base/ownMembers';
import type { ComparedField } from '../fields/keys';
import { coversValue } from '../fields/same';

/** One value that differs between the source and the CRM. */
export interface Change {
	/** The name of the field, dotted if it is part of an object: `address.city`. */
	field: string;
	/** The value in the CRM; null if it has none. */
	from: unknown;
	/** The value in the source. */
	to: unknown;
	/** Whether the CRM's value stays. */
	kept?: true;
}

/** The difference between a record and its source. */
interface Difference {
	changes: Change[];
	/** A merge patch (RFC 7396) with the values that differ, and no others. */
	patch: IDataObject;
}

/**
 * Compares records as the service stores them: texts that it stores in lower case are equal in any case, and
 * two notations of one instant are equal. Only values present in the source count, also within objects and the
 * objects of a list. A missing value, null, an empty text and an empty list are equal.
 *
 * @param fields the fields that records are written with
 */
export function comparison(fields: ComparedField[]): RecordComparison {
	const byName = new Map(fields.map((field) => [field.path.join('.'), field]));

	const objectDifference = (
		stored: unknown,
		source: IDataObject,
		prefix: string,
		around: ComparedField | undefined,
		changes: Change[],
		isWanted: (field: string) => boolean,
	): IDataObject => {
		const patch: IDataObject = {};
		const before = isObject(stored) ? stored : {};
		for (const [key, value] of Object.entries(source)) {
			if (value === undefined) continue;
			const name = prefix + key;
			const field = byName.get(name) ?? around;
			const current = ownMember(before, key);
			if (isObject(value) && Object.keys(value).length > 0) {
				const count = changes.length;
				const inner = objectDifference(current, value, `${name}.`, field, changes, isWanted);
				if (changes.length > count) setMember(patch, key, inner);
			} else if (isWanted(name) && !coversValue(field, current, value, pathWithin(name, field))) {
				changes.push({ field: name, from: current ?? null, to: value });
				setMember(patch, key, value);
			}
		}
		return patch;
	};

	return {
		difference(stored, source, isWanted = () => true) {
			const changes: Change[] = [];
			const patch = objectDifference(stored, source, '', undefined, changes, isWanted);
			return { changes, patch };
		},
		isSame(name, stored, source) {
			const field = byName.get(name);
			return coversValue(field, stored, source, pathWithin(name, field));
		},
	};
}

export interface RecordComparison {
	/** @param isWanted whether a field, by its dotted name, counts */
	difference(stored: IDataObject, source: IDataObject, isWanted?: (field: string) => boolean): Difference;
	/** Whether two values of a field, by its dotted name, are equal. */
	isSame(field: string, stored: unknown, source: unknown): boolean;
}

/** The path of a value within its field: empty for the field's own value, `*.value` in a list of objects. */
function pathWithin(name: string, field: ComparedField | undefined): string {
	const path = field?.path.join('.') ?? name;
	return name === path ? '' : name.slice(path.length + 1);
}
