import { getOrCreate } from '../../base/maps';
import { labelFor, type Field, type FieldKind } from '../../fields/field';
import { fieldKinds, kindOfSchema } from '../../fields/fieldKinds';
import type { OpenApiDocument, Schema } from './openapi';
import { isSafePattern } from '../../base/pattern';
import { flatten, namedValues } from './schema';

/** The writable fields of an object schema, in the order of the document. */
export function fieldsOf(document: OpenApiDocument, schema: Schema): Field[] {
	const { properties = {}, required = [] } = flatten(document, schema);
	const isRequired = new Set(required);
	const fields: Field[] = [];
	for (const [name, property] of writableIn(document, properties)) {
		const label = property.title ?? labelFor(name);
		// Members of an object become fields; deeper nesting stays JSON.
		const isObject = property.properties !== undefined && fieldKinds[kindOf(document, property)].shape === 'object';
		if (!isObject) fields.push(field(document, [name], label, property, isRequired.has(name)));
		for (const [part, inner] of isObject ? writableIn(document, property.properties ?? {}) : []) {
			fields.push(field(document, [name, part], `${label}: ${inner.title ?? labelFor(part)}`, inner, false));
		}
	}
	return fields;
}

const writableIn = (document: OpenApiDocument, properties: Record<string, Schema>): Array<[string, Schema]> =>
	Object.entries(properties)
		.map(([name, property]): [string, Schema] => [name, flatten(document, property)])
		.filter(([, { readOnly }]) => !readOnly);

/** A field from its schema. */
export function field(
	document: OpenApiDocument,
	path: string[],
	label: string,
	schema: Schema,
	required: boolean,
): Field {
	const flatSchema = flatten(document, schema);
	const kind = kindOf(document, flatSchema);
	const { shape } = fieldKinds[kind];
	const chosen = shape === 'list' ? flatten(document, flatSchema.items ?? {}) : flatSchema;
	const values = namedValues(document, chosen);
	const [parentCollection, part] = chosen['x-item-of']?.split('.') ?? [];
	const linked = flatSchema['x-resource'] ?? chosen['x-resource'] ?? parentCollection;
	const [collection, several = []] = Array.isArray(linked) ? [undefined, linked] : [linked];
	const linksTo = shape === 'object' ? linkedCollections(document, flatten(document, flatSchema.items ?? {})) : several;
	const items = shape === 'list' ? kindOf(document, chosen) : undefined;
	const description = flatSchema.description ?? '';
	const result: Field = { name: path.join('.'), path, label, description, kind, required };
	if (chosen.pattern !== undefined && isSafePattern(chosen.pattern)) result.pattern = chosen.pattern;
	if (collection !== undefined) result.collection = collection;
	if (part !== undefined) result.part = part;
	if (items !== undefined) result.items = items;
	if (shape === 'object' && flatSchema.items) {
		const { properties = {}, required: needed = [] } = flatten(document, flatSchema.items);
		const isPlain = (member: Schema) => {
			const { shape: memberShape, order } = fieldKinds[kindOf(document, flatten(document, member))];
			return memberShape === 'single' && [undefined, 'number'].includes(order);
		};
		result.members = writableIn(document, properties)
			.filter(([, member]) => isPlain(member))
			.map(([name, member]) => field(document, [name], member.title ?? labelFor(name), member, needed.includes(name)));
	}
	if (linksTo.length > 0) result.linksTo = linksTo;
	const places = lowerCasePlaces(document, flatSchema);
	if (places.length > 0) result.lowerCase = places;
	if (values.length > 0) {
		const alternatives = [...(chosen.oneOf ?? []), ...(chosen.anyOf ?? [])].map((alternative) => flatten(document, alternative));
		const titled = alternatives.flatMap(({ const: value, title }): Array<[string, string]> =>
			value === undefined || title === undefined ? [] : [[String(value), title]],
		);
		const labels = new Map([...titled, ...Object.entries(chosen['x-enum-labels'] ?? {})]);
		result.choices = values.map((value) => ({
			label: labels.get(String(value)) ?? labelFor(String(value)),
			value,
		}));
		if (chosen.enum === undefined && chosen.const === undefined) result.isOpen = true;
	}
	if (chosen.format !== undefined) result.format = chosen.format;
	for (const bound of ['maxLength', 'minimum', 'maximum'] as const) if (chosen[bound] !== undefined) result[bound] = chosen[bound];
	if (/^(uri|url|iri)$/.test(flatSchema.format ?? '')) result.isUrl = true;
	if (flatSchema['x-important']) result.important = true;
	if (flatSchema['x-ordered']) result.isOrdered = true;
	return result;
}

/** The places of texts in lower case of each schema, two levels deep and one: a schema may contain itself. */
const lowerCaseCaches = [new WeakMap<Schema, string[]>(), new WeakMap<Schema, string[]>()] as const;

function lowerCasePlaces(document: OpenApiDocument, schema: Schema, depth: 0 | 1 | 2 = 0): string[] {
	if (schema['x-lower-case']) return [''];
	if (depth === 2) return [];
	const under = (step: string, inner: Schema) =>
		lowerCasePlaces(document, flatten(document, inner), depth === 0 ? 1 : 2).map((place) => (place === '' ? step : `${step}.${place}`));
	return getOrCreate(lowerCaseCaches[depth], schema, () => [
		...(schema.items ? under('*', schema.items) : []),
		...Object.entries(schema.properties ?? {}).flatMap(([name, property]) => under(name, property)),
	]);
}

/**
 * The kind of value that a schema describes.
 *
 * @param depth of nested lists, which may be infinite
 */
function kindOf(document: OpenApiDocument, schema: Schema, depth = 0): FieldKind {
	const [type, ...others] = typesOf(schema);
	if (others.length > 0) return 'any';
	const itemsOf = () => (depth < 3 ? kindOf(document, flatten(document, schema.items ?? {}), depth + 1) : 'json');
	return kindOfSchema({
		type,
		format: schema.format,
		items: type === 'array' ? itemsOf() : undefined,
		isEnumerated: namedValues(document, schema).length > 0,
		hasMembers: schema.properties !== undefined,
	});
}

/** The types of a schema, except null; a whole number is a number. */
function typesOf({ type = [] }: Schema): string[] {
	const named = [type].flat().filter((typeName) => typeName !== 'null');
	return [...new Set(named.map((typeName) => (typeName === 'integer' ? 'number' : typeName)))];
}

/** The collections to which links such as `{ resource: 'contacts', id }` can lead. */
function linkedCollections(document: OpenApiDocument, { properties: { resource, id, ...more } = {} }: Schema): string[] {
	if (!resource || !id || Object.keys(more).length > 0) return [];
	return namedValues(document, resource).map(String);
}
