import { isObject } from '../../base/json';
import { getOrCreate } from '../../base/maps';
import { defined, lazily } from '../../base/ownMembers';
import { isSafePattern } from '../../base/pattern';
import { labelFor, type Field, type FieldKind } from '../../fields/field';
import { fieldKinds, isTimeField, kindOfSchema, valueShape } from '../../fields/fieldKinds';
import { ruleBroken } from '../http/rules';
import { keyword, memberReader, type OpenApiDocument } from './openapi';

/** Schemas by name. One that is `false` allows no value (JSON Schema, section 4.3.2), as if it were absent. */
const schemas = keyword.objectOf((json) => (json === false ? undefined : json));

/** A JSON Schema (OpenAPI 3.0 and 3.1) as written. */
const readKeywords = memberReader({
	type: keyword.textOrTexts,
	title: keyword.text,
	description: keyword.text,
	format: keyword.text,
	pattern: keyword.text,
	enum: keyword.list,
	const: keyword.anything,
	minimum: keyword.number,
	maximum: keyword.number,
	maxLength: keyword.number,
	maxItems: keyword.number,
	default: keyword.anything,
	readOnly: keyword.flag,
	/** False if an object may only have the named members. */
	additionalProperties: (json: unknown) => (json === false ? json : undefined),
	required: keyword.texts,
	properties: schemas,
	items: keyword.object,
	allOf: keyword.list,
	anyOf: keyword.list,
	oneOf: keyword.list,
	/** Ours: whether the service stores texts in lower case, so that values which differ in case are equal. */
	'x-lower-case': keyword.flag,
	/** Ours: the labels of the values of an enumeration, by value. */
	'x-enum-labels': keyword.objectOf(keyword.text),
	/** Ours: whether it is one of the fields people use most. */
	'x-important': keyword.flag,
	/** Ours: the collection of the record that an id identifies, such as `companies`; several for `companies:com_…`. */
	'x-resource': keyword.textOrTexts,
	/** Ours: the collection and member of the part that an id identifies, such as `pipelines.stages`. */
	'x-item-of': keyword.text,
});

type Keywords = ReturnType<typeof readKeywords>;

/** A schema in one piece: see `schemaAt`. The schemas within it are read on demand, since a schema may contain itself. */
export interface Schema extends Omit<Keywords, 'properties' | 'items' | 'anyOf' | 'oneOf'> {
	properties: Readonly<Record<string, Schema>> | undefined;
	/** Of a list; empty if it does not describe any. */
	items: Schema;
	/** Its alternatives, except null. */
	alternatives: Schema[];
}

const emptySchema: Schema = {
	properties: undefined,
	get items() {
		return emptySchema;
	},
	alternatives: [],
};

const schemaCache = new WeakMap<Keywords, Schema>();

/**
 * A schema with its references followed and its `allOf` merged. `X or null` (in the notation of 3.0 or 3.1) becomes X;
 * of several alternatives, only the values that they name are read. Each schema is read once, so the work grows with the
 * document and not with the paths through it. A schema is empty where it consists of itself, as is anything that is no schema.
 */
export function schemaAt(document: OpenApiDocument, json: unknown): Schema {
	if (!isObject(json)) return emptySchema;
	const keywords = mergedKeywords(document, json);
	return getOrCreate(schemaCache, keywords, () => {
		const { properties: members, items, anyOf = [], oneOf = [], ...others } = keywords;
		const inner = lazily<Pick<Schema, 'properties' | 'items' | 'alternatives'>>({
			properties: () => members && Object.fromEntries(Object.entries(members).map(([name, member]) => [name, schemaAt(document, member)])),
			items: () => (items ? schemaAt(document, items) : emptySchema),
			alternatives: () => [...oneOf, ...anyOf].map((alternative) => schemaAt(document, alternative)).filter(isNotNull),
		});
		return Object.assign(inner, others);
	});
}

/** Maximum nesting of schemas that consist of others, which are read recursively. */
const maxDepth = 100;

const mergedCache = new WeakMap<Keywords, Keywords>();

/** @param merging the subschemas that were read for the same schema: in a cycle, they lack it, so others read them again */
function mergedKeywords(document: OpenApiDocument, json: unknown, merging = new Map<Keywords, Keywords>(), depth = 0): Keywords {
	const schema = readKeywords(document, json);
	const cached = mergedCache.get(schema) ?? merging.get(schema);
	if (cached) return cached;
	if (depth > maxDepth) throw ruleBroken(18, 'API description', `Its schemas are nested more than ${maxDepth} levels deep.`);
	// Empty to the schemas it contains, which ends cycles.
	merging.set(schema, {});
	const merged = (schemas: unknown[] = []) => schemas.map((subschema) => mergedKeywords(document, subschema, merging, depth + 1));
	const alternatives = [...merged(schema.anyOf), ...merged(schema.oneOf)].filter(isNotNull);
	const result = mergedInto(schema, [...merged(schema.allOf), ...(alternatives.length === 1 ? alternatives : [])]);
	merging.set(schema, result);
	if (depth === 0) mergedCache.set(schema, result);
	return result;
}

/** The schema takes precedence over its subschemas, and a later one over an earlier one. */
function mergedInto(schema: Keywords, subschemas: Keywords[]): Keywords {
	if (subschemas.length === 0) return schema;
	const all = [...subschemas, schema];
	const properties = all.flatMap((each) => Object.entries(each.properties ?? {}));
	return {
		...(Object.fromEntries(all.flatMap((each) => Object.entries(each))) as Keywords),
		...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
		required: [...new Set(all.flatMap((each) => each.required ?? []))],
	};
}

const isNotNull = ({ type, enum: values }: Pick<Keywords, 'type' | 'enum'>): boolean =>
	type !== 'null' && !(values?.length === 1 && values[0] === null);

/** The values that a schema names directly. */
const directValues = ({ enum: values, const: constant }: Schema): unknown[] | undefined =>
	values ?? (constant === undefined ? undefined : [constant]);

/** The values of an enumeration, a constant or alternatives. Another alternative may allow further values by a pattern. */
export function namedValues(schema: Schema): Array<string | number | boolean> {
	const values = directValues(schema) ?? schema.alternatives.flatMap((alternative) => directValues(alternative) ?? []);
	return [...new Set(values)].filter((value) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean');
}

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
		...(typeof linked === 'string' && { target: `/${linked}` as const }),
		...(part !== undefined && { part }),
		...(linksTo.length > 0 && { linksTo: linksTo.map((name) => `/${name}` as const) }),
		...(linksWithin.length > 0 && { linksWithin: linksWithin.map((name) => `/${name}` as const) }),
		...choicesOf(each),
		...(each.pattern !== undefined && isSafePattern(each.pattern) && { pattern: each.pattern }),
		...(each.format !== undefined && { format: each.format }),
		...(each.format === 'uri' && { isUrl: true }),
		...(namedTypes(schema).join() === 'integer' && { isInteger: true }),
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

/** @param depth of nested lists, which may be infinite */
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
const typesOf = (schema: Schema): string[] => [...new Set(namedTypes(schema).map((typeName) => (typeName === 'integer' ? 'number' : typeName)))];

const namedTypes = ({ type = [] }: Schema): string[] => [type].flat().filter((typeName) => typeName !== 'null');
