import type { IDataObject } from 'n8n-workflow';

import { isObject, parsedValue } from '../base/json';
import { isPlainObject } from '../base/ownMembers';
import { decideValue, type GivenBy, type WhenCleared } from '../fields/decideValue';
import { fieldNamed, type Field, type InputValue } from '../fields/field';
import { FieldError } from '../fields/fieldError';
import { mayBeObjects } from '../fields/fieldKinds';
import { isBlank } from '../values/blank';
import { meaningText, type Meaning, type MeaningsOf } from './fieldNames';

/** The values of an object for a list of fields. */
interface ObjectFields {
	values: InputValue[];
	/** Names that belong to no field. */
	unknown: string[];
	/** Names of objects whose members are fields, but whose value is not an object. */
	notObjects: string[];
}

/**
 * Finds the fields for which an object has values: flat (`"address.city"`) or as members of an object
 * (`address: { city }`), which may be JSON text.
 *
 * @param blanks they decide whether a blank leaves its field as it is, as by default: then it yields to a value under another name
 * @throws Error in the user's words if two names with different values mean one field, or one name may mean several
 */
export function fieldsInObject(
	meaningsOf: MeaningsOf,
	object: IDataObject,
	blanks: { givenBy: GivenBy; whenCleared: WhenCleared } = { givenBy: 'cellThatLeaves', whenCleared: 'skip' },
): ObjectFields {
	const values = new Map<string, InputValue & { name: string }>();
	const unknown: string[] = [];
	const notObjects: string[] = [];
	const isSkipped = (field: Field, value: unknown) => decideValue({ field, value, givenBy: blanks.givenBy }, blanks.whenCleared).do === 'skip';
	const add = (field: Field, name: string, value: unknown): void => {
		const pathKey = JSON.stringify(field.path);
		const other = values.get(pathKey);
		const isSame = other && JSON.stringify(other.value) === JSON.stringify(value);
		if (!other || isSame || isSkipped(field, other.value)) {
			values.set(pathKey, { field, name, value });
		} else if (!isSkipped(field, value)) {
			throw new FieldError(field, `“${other.name}” and “${name}” both map to this field, with different values. Remove or rename one of them.`);
		}
	};
	const readMembers = (members: IDataObject, prefix: string): void => {
		for (const [key, value] of Object.entries(members)) {
			if (value === undefined) continue;
			const name = prefix + key;
			const meaning = meaningFor(meaningsOf, name, value, prefix !== '');
			if (meaning === undefined) unknown.push(name);
			else if (typeof meaning !== 'string') add(meaning, name, value);
			else {
				const inner = parsedValue(value);
				if (isObject(inner)) readMembers(inner, `${meaning}.`);
				// The object is cleared as a whole.
				else if (!Array.isArray(value) && isBlank(value)) add(fieldNamed(meaning, { kind: 'json' }), meaning, value);
				else notObjects.push(meaning);
			}
		}
	};
	readMembers(object, '');
	return { values: [...values.values()].map(({ field, value }) => ({ field, value })), unknown, notObjects };
}

function meaningFor(meaningsOf: MeaningsOf, name: string, value: unknown, isMember: boolean): Meaning | undefined {
	const all = meaningsOf(name, isMember);
	// A merely similar name requires that the shape of the value fits the field.
	const canHold = (meaning: Meaning) =>
		typeof meaning === 'string' || meaning.name === name || mayBeObjects(meaning) || !isPlainObject(value);
	const meanings = isObject(value) ? all.filter(canHold) : all;
	if (meanings.length < 2) return meanings[0];
	throw new Error(`“${name}” could mean any of the fields ${meanings.map(meaningText).join(', ')}. Rename it to the right one.`);
}
