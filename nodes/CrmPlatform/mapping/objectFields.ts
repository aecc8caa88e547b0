import type { IDataObject } from 'n8n-workflow';

import { isObject, parsedValue } from '../base/json';
import { isPlainObject } from '../base/ownMembers';
import { decideValue, type GivenBy, type WhenCleared } from '../fields/convertValue';
import { type Field, FieldError, fieldNamed, type InputValue } from '../fields/field';
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
	for (const { name, value, meaning: field } of membersIn(meaningsOf, object, '')) {
		if (typeof field !== 'object') {
			(field === undefined ? unknown : notObjects).push(name);
			continue;
		}
		const pathKey = JSON.stringify(field.path);
		const other = values.get(pathKey);
		const isSame = other && JSON.stringify(other.value) === JSON.stringify(value);
		if (!other || isSame || isSkipped(field, other.value)) values.set(pathKey, { field, name, value });
		else if (!isSkipped(field, value)) {
			throw new FieldError(field, `“${other.name}” and “${name}” both map to this field, with different values. Remove or rename one of them.`);
		}
	}
	return { values: [...values.values()].map(({ field, value }) => ({ field, value })), unknown, notObjects };
}

/** A value and its field: no field if none has the name, or a name if it is that of an object whose members are fields. */
type Member = { name: string; value: unknown; meaning: Meaning | undefined };

/** The members of an object; those of an inner object, if they are fields, in place of it. */
function membersIn(meaningsOf: MeaningsOf, object: IDataObject, prefix: string): Member[] {
	const members: Member[] = [];
	for (const [key, value] of Object.entries(object)) {
		if (value === undefined) continue;
		const name = prefix + key;
		const meaning = meaningFor(meaningsOf, name, value, prefix !== '');
		const inner = typeof meaning === 'string' ? parsedValue(value) : undefined;
		if (typeof meaning !== 'string') members.push({ name, value, meaning });
		else if (isObject(inner)) for (const member of membersIn(meaningsOf, inner, `${meaning}.`)) members.push(member);
		// The object is cleared as a whole.
		else if (!Array.isArray(value) && isBlank(value)) members.push({ name: meaning, value, meaning: fieldNamed(meaning, { kind: 'json' }) });
		else members.push({ name: meaning, value, meaning });
	}
	return members;
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
