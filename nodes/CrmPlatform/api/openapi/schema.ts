import { isObject } from '../../base/json';
import { getOrCreate } from '../../base/maps';
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

/** Describes nothing. */
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
		let properties: Schema['properties'];
		return {
			...others,
			get properties() {
				const read = () => Object.fromEntries(Object.entries(members!).map(([name, member]) => [name, schemaAt(document, member)]));
				return members && (properties ??= read());
			},
			get items() {
				return items ? schemaAt(document, items) : emptySchema;
			},
			get alternatives() {
				return [...oneOf, ...anyOf].map((alternative) => schemaAt(document, alternative)).filter(isNotNull);
			},
		};
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
export const directValues = ({ enum: values, const: constant }: Schema): unknown[] | undefined =>
	values ?? (constant === undefined ? undefined : [constant]);

/**
 * The values that a schema names, by an enumeration, as a constant or in its alternatives. Another alternative may allow
 * further values by a pattern.
 */
export function namedValues(schema: Schema): Array<string | number | boolean> {
	const values = directValues(schema) ?? schema.alternatives.flatMap((alternative) => directValues(alternative) ?? []);
	return [...new Set(values)].filter((value) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean');
}
