import { labelFor, type Field, type FieldKind } from '../../fields/field';
import { fieldKinds, isTimeField, kindOfSchema, valueShape } from '../../fields/fieldKinds';
import { defined } from '../../base/ownMembers';
import { isSafePattern } from '../../base/pattern';
import { directValues, namedValues, type Schema } from './schema';

/** The writable fields of an object, in the order of the document. */
export function fieldsOf(schema: Schema): Field[] {
	const isRequired = new Set(schema.required);
	const fields: Field[] = [];
	for (const [name, property] of writableIn(schema)) {
		const label = property.title ?? labelFor(name);
		// Members of an object become fields; deeper nesting stays JSON.
		const isObject = property.properties !== undefined && fieldKinds[kindOf(property)].shape === 'object';
		if (!isObject) fields.push(field([name], label, property, isRequired.has(name)));
		for (const [member, inner] of isObject ? writableIn(property) : []) {
			fields.push(field([name, member], `${label}: ${inner.title ?? labelFor(member)}`, inner, false));
		}
	}
	return fields;
}

const writableIn = ({ properties = {} }: Schema): Array<[string, Schema]> =>
	Object.entries(properties).filter(([, { readOnly }]) => !readOnly);

/** A field from its schema. */
export function field(path: string[], label: string, schema: Schema, required: boolean): Field {
	const kind = kindOf(schema);
	const { shape } = fieldKinds[kind];
	// What is said of the values of a list is said of each.
	const each = shape === 'list' ? schema.items : schema;
	const [parent, part] = each['x-item-of']?.split('.') ?? [];
	const linked = schema['x-resource'] ?? each['x-resource'] ?? parent;
	const linksTo = Array.isArray(linked) ? linked : shape === 'object' ? linkedTypes(schema.items) : [];
	const isLink = linked !== undefined || linksTo.length > 0;
	const linksWithin = isLink ? [] : linkedWithin(schema);
	const lowerCase = lowerCasePaths(schema);
	return {
		name: path.join('.'),
		path,
		label,
		description: schema.description ?? '',
		kind,
		required,
		...(shape === 'list' && { items: kindOf(each) }),
		...(shape === 'object' && typesOf(schema).includes('array') && { members: plainMembers(schema.items) }),
		...(typeof linked === 'string' && { collection: `/${linked}` as const }),
		...(part !== undefined && { part }),
		...(linksTo.length > 0 && { linksTo: linksTo.map((name) => `/${name}` as const) }),
		...(linksWithin.length > 0 && { linksWithin: linksWithin.map((name) => `/${name}` as const) }),
		...choicesOf(each),
		...(each.pattern !== undefined && isSafePattern(each.pattern) && { pattern: each.pattern }),
		...(each.format !== undefined && { format: each.format }),
		...(schema.format === 'uri' && { isUrl: true }),
		...(lowerCase.length > 0 && { lowerCase }),
		...(schema['x-important'] && { important: true }),
		...defined({ maxLength: each.maxLength, minimum: each.minimum, maximum: each.maximum }),
	};
}

/** The members of objects that have plain values. */
function plainMembers(schema: Schema): Field[] {
	const isPlain = ([, member]: [string, Schema]) => {
		const kind = kindOf(member);
		return valueShape({ kind }) === 'single' && !isTimeField({ kind });
	};
	return writableIn(schema)
		.filter(isPlain)
		.map(([name, member]) => field([name], member.title ?? labelFor(name), member, schema.required?.includes(name) === true));
}

/** The names of the collections to which links such as `{ resource: 'contacts', id }` can lead. */
function linkedTypes({ properties: { resource, id, ...more } = {} }: Schema): string[] {
	if (!resource || !id || Object.keys(more).length > 0) return [];
	return namedValues(resource).map(String);
}

/** The names of the collections to which something within a schema links. @param seen schemas, since one may contain itself */
function linkedWithin(schema: Schema, seen = new Set<Schema>()): string[] {
	if (seen.has(schema)) return [];
	seen.add(schema);
	const inner = [schema.items, ...Object.values(schema.properties ?? {})];
	return [...[schema['x-resource'] ?? linkedTypes(schema)].flat(), ...inner.flatMap((member) => linkedWithin(member, seen))];
}

/** The values that a schema names, with their labels. */
function choicesOf(schema: Schema): Pick<Field, 'choices' | 'isOpen'> {
	const values = namedValues(schema);
	if (values.length === 0) return {};
	const { alternatives } = schema;
	const isOpen = directValues(schema) === undefined && alternatives.some((alternative) => directValues(alternative) === undefined);
	const titled = alternatives.map(({ const: value, title }) => [String(value), title] as const);
	const labels = new Map([...titled, ...Object.entries(schema['x-enum-labels'] ?? {})]);
	const choices = values.map((value) => ({ label: labels.get(String(value)) ?? labelFor(String(value)), value }));
	return { choices, ...(isOpen && { isOpen }) };
}

/** The paths of texts in lower case, as deep as `*.value`: a schema may contain itself. */
function lowerCasePaths(schema: Schema, depth = 0): string[] {
	if (schema['x-lower-case']) return [''];
	const inner = depth === 2 ? [] : Object.entries({ '*': schema.items, ...schema.properties });
	return inner.flatMap(([step, member]) => lowerCasePaths(member, depth + 1).map((path) => (path === '' ? step : `${step}.${path}`)));
}

/**
 * The kind of value that a schema describes.
 *
 * @param depth of nested lists, which may be infinite
 */
function kindOf(schema: Schema, depth = 0): FieldKind {
	const [type, ...others] = typesOf(schema);
	if (others.length > 0) return 'any';
	const itemsOf = () => (depth < 3 ? kindOf(schema.items, depth + 1) : 'json');
	return kindOfSchema({
		type,
		format: schema.format,
		items: type === 'array' ? itemsOf() : undefined,
		isEnumerated: namedValues(schema).length > 0,
		hasMembers: schema.properties !== undefined,
	});
}

/** The types of a schema, except null; a whole number is a number. */
function typesOf({ type = [] }: Schema): string[] {
	const named = [type].flat().filter((typeName) => typeName !== 'null');
	return [...new Set(named.map((typeName) => (typeName === 'integer' ? 'number' : typeName)))];
}
