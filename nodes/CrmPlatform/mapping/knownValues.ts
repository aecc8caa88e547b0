import type { IDataObject } from 'n8n-workflow';

import type { Field } from '../api/fields';

/** A field and what was given for it. */
export type GivenValue = [Field, unknown];

/**
 * Finds the fields an object has values for: flat (`"address.city"`) or as parts of an object
 * (`address: { city }`), as records have them.
 *
 * @returns the values, and the names the object has that are no field's
 */
export function knownValues(
	json: IDataObject,
	fields: Field[],
): { values: GivenValue[]; unknown: string[] } {
	const byName = new Map(fields.map((field) => [field.name, field]));
	const groups = new Set(fields.flatMap(({ name }) => groupsOf(name)));
	const values: GivenValue[] = [];
	const unknown: string[] = [];

	const read = (object: IDataObject, prefix: string): void => {
		for (const [key, value] of Object.entries(object)) {
			const name = prefix + key;
			const field = byName.get(name);
			if (value === undefined) continue;
			if (field) values.push([field, value]);
			else if (groups.has(name) && isObject(value)) read(value, `${name}.`);
			else if (groups.has(name) && value === null) values.push([whole(name), value]);
			else unknown.push(name);
		}
	};
	read(json, '');
	return { values, unknown };
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

function isObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
