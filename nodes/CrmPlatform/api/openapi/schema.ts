import { isObject } from '../../base/json';
import { ruleBroken } from '../http/rules';
import { readBody, readSchema, type OpenApiDocument, type Schema } from './openapi';

const flattenedCache = new WeakMap<Schema, Schema>();

/**
 * A schema with its references followed and its `allOf` merged. `X or null` (in the notation of 3.0 or 3.1) becomes X;
 * of several alternatives, only the values that they name are read. Each schema is read once, so the work grows with the document
 * and not with the paths through it. A schema within itself is empty, as is anything that is no schema.
 */
export function flatten(document: OpenApiDocument, json: unknown): Schema {
	const schema = readSchema(document, json);
	const cachedSchema = flattenedCache.get(schema);
	if (cachedSchema) return cachedSchema;
	const flat = inOnePiece(document, schema, new Map());
	flattenedCache.set(schema, flat);
	return flat;
}

/** Maximum nesting of schemas, which are read recursively. */
const maxDepth = 100;

/** @param parts the parts that were read for the same schema: 30 that contain each other can be nested in 30! ways */
function inOnePiece(document: OpenApiDocument, schema: Schema, parts: Map<Schema, Schema>, depth = 0): Schema {
	const cachedSchema = flattenedCache.get(schema) ?? parts.get(schema);
	if (cachedSchema) return cachedSchema;
	if (depth > maxDepth) throw ruleBroken(18, 'API description', `Its schemas are nested more than ${maxDepth} levels deep.`);
	// Empty to the schemas it contains, which ends cycles.
	parts.set(schema, {});
	const flat = (schemas: unknown[] = []) => schemas.map((part) => inOnePiece(document, readSchema(document, part), parts, depth + 1));
	const alternatives = [...flat(schema.anyOf), ...flat(schema.oneOf)].filter(isNotNull);
	const merged = mergedInto(schema, [...flat(schema.allOf), ...(alternatives.length === 1 ? alternatives : [])]);
	parts.set(schema, merged);
	return merged;
}

/** The schema takes precedence over its parts, and a later part over an earlier one. */
function mergedInto(schema: Schema, parts: Schema[]): Schema {
	if (parts.length === 0) return schema;
	const all = [...parts, schema];
	const properties = all.flatMap((part) => Object.entries(part.properties ?? {}));
	return {
		...(Object.fromEntries(all.flatMap((part) => Object.entries(part))) as Schema),
		...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
		required: [...new Set(all.flatMap((part) => part.required ?? []))],
	};
}

const isNotNull = ({ type, enum: values }: Schema): boolean =>
	type !== 'null' && !(values?.length === 1 && values[0] === null);

/** The values that a flat schema names directly. */
export const directValues = ({ enum: values, const: constant }: Schema): unknown[] | undefined =>
	values ?? (constant === undefined ? undefined : [constant]);

/** The alternatives of a schema, except null. */
export const alternativesOf = (document: OpenApiDocument, { oneOf = [], anyOf = [] }: Schema): Schema[] =>
	[...oneOf, ...anyOf].map((alternative) => flatten(document, alternative)).filter(isNotNull);

/**
 * The values that a flat schema names, by an enumeration, as a constant or in its alternatives. Another alternative may
 * allow further values by a pattern.
 */
export function namedValues(document: OpenApiDocument, schema: Schema): Array<string | number | boolean> {
	const values = directValues(schema) ?? alternativesOf(document, schema).flatMap((alternative) => directValues(alternative) ?? []);
	return [...new Set(values)].filter((value) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean');
}

/** The schema of a request's or a response's body as JSON or as a merge patch (RFC 7396), and the media type of the latter. */
export function bodyAt(document: OpenApiDocument, json: unknown): { schema: Schema; mergePatchType: string | undefined } {
	const { content = {} } = readBody(document, json);
	const typeLike = (pattern: RegExp) => Object.keys(content).find((type) => pattern.test(type));
	const jsonType = typeLike(/^application\/json\s*(;|$)/i);
	const mergePatchType = jsonType === undefined ? typeLike(/^application\/merge-patch\+json\b/i) : undefined;
	const body = content[jsonType ?? mergePatchType ?? ''];
	return { schema: flatten(document, isObject(body) ? body.schema : undefined), mergePatchType };
}
