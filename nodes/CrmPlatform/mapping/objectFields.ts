import type { IDataObject } from 'n8n-workflow';

import { isObject, parsedValue } from '../base/json';
import { isPlainObject } from '../base/ownMembers';
import { isBlankFor } from '../fields/decideValue';
import { fieldNamed, type Field, type InputValue } from '../fields/field';
import { FieldError } from '../fields/fieldError';
import { mayBeObjects } from '../fields/fieldKinds';
import { isBlank } from '../values/blank';
import { FieldNames, meaningText, type Meaning } from './fieldNames';

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
 */
export class ObjectFieldReader {
	private readonly names: FieldNames;

	/** @param recordFieldNames the names of all fields of records: names of read-only fields are never matched by label */
	constructor(fields: Field[], recordFieldNames: ReadonlySet<string> = new Set()) {
		this.names = new FieldNames(fields, recordFieldNames);
	}

	/**
	 * @param isSkipped whether a value leaves its field as it is, so that it yields to that of another name
	 * @throws Error in the user's words if two names with different values mean one field, or one name may mean several
	 */
	read(object: IDataObject, isSkipped: IsSkipped = isBlankFor): ObjectFields {
		const found: FoundValues = { values: new Map(), unknown: [], notObjects: [], isSkipped };
		this.readMembers(object, '', found);
		const { values, unknown, notObjects } = found;
		return { values: [...values.values()].map(({ field, value }): InputValue => ({ field, value })), unknown, notObjects };
	}

	private readMembers(object: IDataObject, prefix: string, found: FoundValues): void {
		for (const [key, value] of Object.entries(object)) {
			if (value === undefined) continue;
			const name = prefix + key;
			const meaning = this.meaningFor(name, value, prefix !== '');
			if (meaning === undefined) found.unknown.push(name);
			else if (typeof meaning === 'string') this.readGroup(meaning, value, found);
			else add(found, meaning, name, value);
		}
	}

	private readGroup(name: string, value: unknown, found: FoundValues): void {
		const members = parsedValue(value);
		if (isObject(members)) this.readMembers(members, `${name}.`, found);
		else if (!Array.isArray(value) && isBlank(value)) add(found, groupField(name), name, value);
		else found.notObjects.push(name);
	}

	private meaningFor(name: string, value: unknown, isMember: boolean): Meaning | undefined {
		const all = this.names.meaningsOf(name, isMember);
		const meanings = isObject(value)
			? all.filter((meaning) => typeof meaning === 'string' || meaning.name === name || canHold(meaning, value))
			: all;
		if (meanings.length < 2) return meanings[0];
		throw new Error(`“${name}” could mean any of the fields ${meanings.map(meaningText).join(', ')}. Rename it to the right one.`);
	}
}

interface FoundValues extends Omit<ObjectFields, 'values'> {
	values: Map<string, { field: Field; name: string; value: unknown }>;
	isSkipped: IsSkipped;
}

type IsSkipped = (field: Field, value: unknown) => boolean;

function add({ values, isSkipped }: FoundValues, field: Field, name: string, value: unknown): void {
	const pathKey = JSON.stringify(field.path);
	const other = values.get(pathKey);
	const isSame = other && JSON.stringify(other.value) === JSON.stringify(value);
	if (!other || isSame || isSkipped(field, other.value)) {
		values.set(pathKey, { field, name, value });
	} else if (!isSkipped(field, value)) {
		throw new FieldError(field, `“${other.name}” and “${name}” both map to this field, with different values. Remove or rename one of them.`);
	}
}

/** Whether the shape of a value fits the field, which a merely similar name requires. */
const canHold = (field: Field, value: IDataObject): boolean => mayBeObjects(field) || !isPlainObject(value);

/** A field for an object whose members are fields, to clear it as a whole. */
const groupField = (name: string): Field => fieldNamed(name, { kind: 'json' });
