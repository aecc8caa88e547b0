import type { OpenApiDocument, Schema } from './openapi';
import { flatten } from './schema';

export type FieldKind =
	| 'text'
	| 'number'
	| 'boolean'
	| 'date'
	| 'dateTime'
	| 'choice'
	/** Several plain values. */
	| 'list'
	/** An object, or a list of them. */
	| 'json';

/** One value of a record that a user may fill in, or filter by. */
export interface Field {
	/** Dotted where it is part of an object: `address.street`. */
	name: string;
	/** The way to it in the JSON body: `['address', 'street']`. */
	path: string[];
	label: string;
	description: string;
	kind: FieldKind;
	required: boolean;
	/** For ids of other records: which, such as `companies`. */
	reference?: string;
	/** For ids of parts of those records: the member that lists them, such as `stages`. */
	part?: string;
	/** For links to records of several kinds: which, such as `contacts` and `deals`. */
	linksTo?: string[];
	/** Whether no two records may have the same value, where that is known. */
	unique?: boolean;
	/**
	 * The places of texts that the service keeps in lower case (`x-lower-case`): empty for the field's own
	 * value, `*` for those of a list, `*.value` for a member of its objects.
	 */
	lowerCase?: string[];
	/** For choices, and lists of choices. */
	choices?: Array<{ label: string; value: string | number | boolean }>;
}

/** The writable fields of an object schema, in the order of the document. */
export function fieldsOf(document: OpenApiDocument, schema: Schema): Field[] {
	return fieldsUnder(document, schema, [], '', 0);
}

function fieldsUnder(
	document: OpenApiDocument,
	schema: Schema,
	parents: string[],
	prefix: string,
	depth: number,
): Field[] {
	const { properties = {}, required = [] } = flatten(document, schema);
	return Object.entries(properties).flatMap(([name, property]) => {
		const own = flatten(document, property);
		if (own.readOnly) return [];
		const path = [...parents, name];
		const label = prefix + (own.title ?? labelFor(name));
		// Parts of an object are filled in one by one; deeper nesting stays JSON.
		if (kindOf(document, own) === 'json' && own.properties && depth === 0) {
			return fieldsUnder(document, own, path, `${label}: `, depth + 1);
		}
		return [field(document, path, label, own, required.includes(name) && depth === 0)];
	});
}

/** A field from a schema of its own, such as a query parameter's. */
export function field(
	document: OpenApiDocument,
	path: string[],
	label: string,
	schema: Schema,
	required: boolean,
): Field {
	const own = flatten(document, schema);
	const kind = kindOf(document, own);
	const chosen = kind === 'list' ? flatten(document, own.items ?? {}) : own;
	const values = choicesOf(chosen);
	const [whole, part] = chosen['x-item-of']?.split('.') ?? [];
	const linksTo = kind === 'json' ? linkedBy(flatten(document, own.items ?? {})) : [];
	const reference = own['x-resource'] ?? chosen['x-resource'] ?? whole;
	const description = own.description ?? '';
	const result: Field = { name: path.join('.'), path, label, description, kind, required };
	if (reference !== undefined) result.reference = reference;
	if (part !== undefined) result.part = part;
	if (linksTo.length > 0) result.linksTo = linksTo;
	const lowerCase = lowerCasePlaces(document, own, '');
	if (lowerCase.length > 0) result.lowerCase = lowerCase;
	if (values.length > 0) {
		result.choices = values.map((value) => ({ label: labelFor(String(value)), value }));
	}
	return result;
}

function lowerCasePlaces(document: OpenApiDocument, schema: Schema, place: string): string[] {
	const within = (step: string) => (place === '' ? step : `${place}.${step}`);
	// Deeper texts are rare, and a schema may contain itself.
	if (place.split('.').length > 3) return [];
	return [
		...(schema['x-lower-case'] ? [place] : []),
		...(schema.items ? lowerCasePlaces(document, flatten(document, schema.items), within('*')) : []),
		...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
			lowerCasePlaces(document, flatten(document, property), within(name)),
		),
	];
}

/** `created_at` → `Created At`, for documents that give no titles. */
export function labelFor(name: string): string {
	const spaced = name.replace(/[_.-]+/g, ' ').replace(/([a-z\d])([A-Z])/g, '$1 $2').trim();
	return spaced.replace(/(^|\s)\S/g, (letter) => letter.toUpperCase());
}

/** What a user fills in for a schema. */
export function kindOf(document: OpenApiDocument, schema: Schema): FieldKind {
	const types = [schema.type ?? []].flat().filter((type) => type !== 'null');
	if (types[0] === 'array') {
		const items = flatten(document, schema.items ?? {});
		return kindOf(document, items) === 'json' ? 'json' : 'list';
	}
	if (types[0] === 'boolean') return 'boolean';
	if (choicesOf(schema).length > 0) return 'choice';
	if (types[0] === 'number' || types[0] === 'integer') return 'number';
	if (types[0] === 'object' || schema.properties) return 'json';
	if (schema.format === 'date') return 'date';
	if (schema.format === 'date-time') return 'dateTime';
	return 'text';
}

/** The kinds of records that links such as `{ resource: 'contacts', id }` lead to. */
function linkedBy({ properties: { resource, id, ...more } = {} }: Schema): string[] {
	if (!resource || !id || Object.keys(more).length > 0) return [];
	return choicesOf(resource).map(String);
}

function choicesOf(schema: Schema): Array<string | number | boolean> {
	const values = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
	return values.filter(
		(value) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean',
	);
}
