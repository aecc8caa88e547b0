import type { IDataObject } from 'n8n-workflow';

import type { Field } from '../api/openapi/fields';
import { parseJson } from '../api/http/json';

/** A field and what was given for it. */
export type FieldValue = [Field, unknown];

/** What an object has of a list of fields. */
export interface ObjectFields {
	values: FieldValue[];
	/** The names it has that are no field's. */
	unknown: string[];
	/** Names of objects whose parts are fields, where it has something else. */
	noObjects: string[];
}

/**
 * Finds the fields an object has values for: flat (`"address.city"`) or as parts of an object
 * (`address: { city }`), as records have them, which may be JSON text.
 *
 * @returns reads one object; what the fields say of themselves is worked out once for all of them
 */
export function objectFields(fields: Field[]): (json: IDataObject) => ObjectFields {
	const byName = new Map(fields.map((field) => [field.name, field]));
	const groups = new Set(fields.flatMap(({ name }) => groupsOf(name)));

	const read = (object: IDataObject, prefix: string, found: ObjectFields): ObjectFields => {
		for (const [key, value] of Object.entries(object)) {
			const name = prefix + key;
			const field = byName.get(name);
			if (value === undefined) continue;
			if (field) found.values.push([field, value]);
			else if (groups.has(name)) readGroup(name, value, found);
			else found.unknown.push(name);
		}
		return found;
	};

	const readGroup = (name: string, value: unknown, found: ObjectFields): void => {
		const parts = typeof value === 'string' ? parseJson(value) : value;
		if (isObject(parts)) read(parts, `${name}.`, found);
		else if (value === null) found.values.push([whole(name), null]);
		// An empty cell of a spreadsheet stands for one value, not for all of an address.
		else if (value !== '') found.noObjects.push(name);
	};

	return (json) => read(json, '', { values: [], unknown: [], noObjects: [] });
}

/** `a.b.c` is part of `a` and of `a.b`. */
function groupsOf(name: string): string[] {
	const steps = name.split('.').slice(0, -1);
	return steps.map((_, i) => steps.slice(0, i + 1).join('.'));
}

/** An object whose parts are the fields, when it is cleared as a whole. */
function whole(name: string): Field {
	const path = name.split('.');
	return { name, path, label: name, description: '', kind: 'json', required: false };
}

export function isObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
