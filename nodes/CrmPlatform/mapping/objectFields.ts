import type { IDataObject } from 'n8n-workflow';

import { isObject, parseJson } from '../api/http/json';
import type { Field } from '../api/openapi/fields';
import { isBlank } from './blank';

/** A field and its mapped value. */
export type FieldValue = [Field, unknown];

/** The values an object has for a list of fields. */
export interface ObjectFields {
	values: FieldValue[];
	/** Names that belong to no field. */
	unknown: string[];
	/** Names of objects whose members are fields, where the value is not an object. */
	noObjects: string[];
}

/**
 * Finds the fields an object has values for: flat (`"address.city"`) or as members of an object
 * (`address: { city }`), which may be JSON text. A name is matched as the service writes it; failing
 * that, by the field's name or label regardless of case, spaces, punctuation and a byte-order mark,
 * and a custom field also without its prefix, where only one field fits.
 *
 * @param recordNames names that records come with: those without a field are never matched by label
 * @returns reads one object; what depends on the fields alone is prepared once
 * @throws Error from the returned function, in the user's words, where two names mean one field
 */
export function objectFields(
	fields: Field[],
	recordNames: ReadonlySet<string> = new Set(),
): (json: IDataObject) => ObjectFields {
	// A field `a.b` is another one than the member `b` of `a`: the item's own shape tells them apart.
	const byDepth = [...fields].sort((one, other) => other.path.length - one.path.length);
	const exact = (some: Field[]) => new Map(some.map((field): [string, Match] => [field.name, [field, true]]));
	const [flat, nested] = [exact(byDepth), exact(byDepth.reverse())];
	const groups = new Map(
		fields.flatMap(({ name }) => groupsOf(name)).map((group) => [group, group]),
	);
	const groupsByWords = new Map([...groups.keys()].map((group) => [wordsOf(group), group]));
	const fieldByWords = fieldsByWords(fields, new Set([...recordNames].map(wordsOf)));

	// Items have the same names as a rule, and of 100,000 items each comparison counts.
	const groupFor = oncePerName((name) => groups.get(name) ?? groupsByWords.get(wordsOf(name)));

	const matchFor = (name: string, value: unknown, isMember: boolean): Match | undefined => {
		const own = (isMember ? nested : flat).get(name);
		if (own) return own;
		if (groups.has(name)) return undefined;
		const similar = fieldByWords(name);
		return similar && canHold(similar, value) ? [similar, false] : undefined;
	};

	const read = (object: IDataObject, prefix: string, found: FoundValues): FoundValues => {
		for (const [key, value] of Object.entries(object)) {
			if (value === undefined) continue;
			const name = prefix + key;
			const match = matchFor(name, value, prefix !== '');
			const group = match ? undefined : groupFor(name);
			if (match) add(found, match, name, value);
			else if (group !== undefined) readGroup(group, value, found);
			else found.unknown.push(name);
		}
		return found;
	};

	const readGroup = (name: string, value: unknown, found: FoundValues): void => {
		const members = typeof value === 'string' ? parseJson(value) : value;
		if (isObject(members)) read(members, `${name}.`, found);
		else if (value === null) add(found, [whole(name), true], name, null);
		// An empty cell of a spreadsheet stands for one value, not for a whole address.
		else if (value !== '') found.noObjects.push(name);
	};

	return (json) => {
		const { values, unknown, noObjects } = read(json, '', { values: new Map(), unknown: [], noObjects: [] });
		return {
			values: [...values.values()].map(({ field, value }): FieldValue => [field, value]),
			unknown,
			noObjects,
		};
	};
}

/** A field, and whether its name is exact. */
type Match = [field: Field, isExact: boolean];

interface FoundValues extends Omit<ObjectFields, 'values'> {
	values: Map<string, { field: Field; name: string; value: unknown; isExact: boolean }>;
}

function add({ values, unknown }: FoundValues, [field, isExact]: Match, name: string, value: unknown): void {
	const place = JSON.stringify(field.path);
	const other = values.get(place);
	const isSame = other && JSON.stringify(other.value) === JSON.stringify(value);
	if (!other || isSame || isBlank(other.value)) {
		values.set(place, { field, name, value, isExact });
	} else if (isBlank(value)) {
		return;
	} else if (isExact !== other.isExact) {
		unknown.push(isExact ? other.name : name);
		if (isExact) values.set(place, { field, name, value, isExact });
	} else {
		throw new Error(
			`${field.label}: "${other.name}" and "${name}" both map to this field, with different values. Remove or rename one of them.`,
		);
	}
}

/** The letters and digits of a name, in lower case: `First Name`, `first_name` and `FirstName` agree. */
function wordsOf(name: string): string {
	return name.normalize('NFKC').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

/** @returns the only field with a name that reads the same or, failing that, with such a label */
function fieldsByWords(
	fields: Field[],
	recordWords: ReadonlySet<string>,
): (name: string) => Field | undefined {
	const byName = grouped(fields, ({ name }) => [name]);
	const byLabel = grouped(fields, ({ label, path }) =>
		path[0] === 'custom_fields' ? [label, path.slice(1).join('.')] : [label],
	);
	return oncePerName((name) => {
		const words = wordsOf(name);
		const named = byName.get(words);
		const labelled = recordWords.has(words) ? undefined : byLabel.get(words);
		const candidates = named ?? labelled;
		return words !== '' && candidates?.size === 1 ? [...candidates][0] : undefined;
	});
}

/** The same function, which finds what a name means once. */
function oncePerName<Meaning>(find: (name: string) => Meaning): (name: string) => Meaning {
	const known = new Map<string, Meaning>();
	return (name) => {
		if (!known.has(name)) known.set(name, find(name));
		return known.get(name) as Meaning;
	};
}

function grouped(fields: Field[], keysOf: (field: Field) => string[]): Map<string, Set<Field>> {
	const groups = new Map<string, Set<Field>>();
	for (const field of fields) {
		for (const key of keysOf(field).map(wordsOf)) {
			groups.set(key, (groups.get(key) ?? new Set()).add(field));
		}
	}
	return groups;
}

/** A name that is only similar has to come with a value of the right shape. */
function canHold({ kind }: Field, value: unknown): boolean {
	if (kind === 'json' || kind === 'any' || !isObject(value)) return true;
	const prototype: unknown = Object.getPrototypeOf(value);
	// A Date or a DateTime is one value.
	return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}

/** `a.b.c` is part of `a` and of `a.b`. */
function groupsOf(name: string): string[] {
	const steps = name.split('.').slice(0, -1);
	return steps.map((_, i) => steps.slice(0, i + 1).join('.'));
}

/** An object whose members are the fields, cleared as a whole. */
function whole(name: string): Field {
	const path = name.split('.');
	return { name, path, label: name, description: '', kind: 'json', required: false };
}
