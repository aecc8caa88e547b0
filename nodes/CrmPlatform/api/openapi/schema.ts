import { ruleBroken } from '../http/rules';
import {
	defined, readPart, resolve, type OpenApiDocument, type OpenApiOperation, type OpenApiParameter, type PathItem, type Schema,
} from './openapi';

const flattenedCache = new WeakMap<Schema, Schema>();

/**
 * A schema with its references followed and its `allOf` merged. `X or null` (in the notation of 3.0 or 3.1) becomes X;
 * several alternatives become what they have in common. Each schema is read once, so the work grows with the document
 * and not with the paths through it. A schema within itself is empty.
 */
export function flatten(document: OpenApiDocument, schema: Schema): Schema {
	const cachedSchema = flattenedCache.get(schema);
	if (cachedSchema) return cachedSchema;
	const flat = inOnePiece(document, schema, new Map());
	for (const same of [schema, resolve(document, schema, 'schema'), flat]) flattenedCache.set(same, flat);
	return flat;
}

/** Maximum nesting of schemas, which are read recursively. */
const maxDepth = 100;

/** @param parts the parts that were read for the same schema: 30 that contain each other can be nested in 30! ways */
function inOnePiece(document: OpenApiDocument, schema: Schema, parts: Map<Schema, Schema>, depth = 0): Schema {
	const resolvedSchema = resolve(document, schema, 'schema');
	const cachedSchema = flattenedCache.get(resolvedSchema) ?? parts.get(resolvedSchema);
	if (cachedSchema) return cachedSchema;
	if (depth > maxDepth) throw ruleBroken(18, 'API description', `Its schemas are nested more than ${maxDepth} levels deep.`);
	// Empty to the schemas it contains, which ends cycles.
	parts.set(resolvedSchema, {});
	const flat = (schemas: Schema[] = []) => schemas.map((part) => inOnePiece(document, part, parts, depth + 1));
	const all = flat(resolvedSchema.allOf);
	const alternatives = [...flat(resolvedSchema.anyOf), ...flat(resolvedSchema.oneOf)].filter(isNotNull);
	const merged = mergedInto(resolvedSchema, [...all, ...commonOf(alternatives)]);
	parts.set(resolvedSchema, merged);
	return merged;
}

/** The schema takes precedence over its parts, and a later part over an earlier one. */
function mergedInto(schema: Schema, parts: Schema[]): Schema {
	if (parts.length === 0) return schema;
	const all = [...parts, schema];
	const properties = all.flatMap((part) => Object.entries(part.properties ?? {}));
	return {
		...(Object.fromEntries(all.flatMap((part) => Object.entries(defined(part)))) as Schema),
		properties: properties.length > 0 ? Object.fromEntries(properties) : undefined,
		required: [...new Set(all.flatMap((part) => part.required ?? []))],
	};
}

const isNotNull = ({ type, enum: values }: Schema): boolean =>
	type !== 'null' && !(values?.length === 1 && values[0] === null);

/** The constraints that all alternatives share. */
function commonOf(alternatives: Schema[]): Schema[] {
	const [first, ...others] = alternatives;
	if (!first || others.length === 0) return alternatives;
	const types = alternatives.map(({ type }) => type);
	const common: Schema = types.includes(undefined) ? {} : { type: [...new Set(types.flatMap((type) => type ?? []))] };
	const constantIn = (alternative: Schema) => (alternative.const === undefined ? undefined : [alternative.const]);
	const values = alternatives.map((alternative) => alternative.enum ?? constantIn(alternative));
	if (values.every(Boolean)) common.enum = [...new Set(values.flatMap((alternativeValues) => alternativeValues ?? []))];
	return [common];
}

/**
 * The values that a schema names, by an enumeration, as a constant or in its alternatives. Another alternative may
 * allow further values by a pattern.
 */
export function namedValues(document: OpenApiDocument, schema: Schema): Array<string | number | boolean> {
	const flatSchema = flatten(document, schema);
	const valuesOf = (named: Schema): unknown[] => named.enum ?? (named.const === undefined ? [] : [named.const]);
	const direct = valuesOf(flatSchema);
	const alternatives = [...(flatSchema.oneOf ?? []), ...(flatSchema.anyOf ?? [])];
	const values = direct.length > 0 ? direct : alternatives.flatMap((alternative) => valuesOf(flatten(document, alternative)));
	return [...new Set(values)].filter(
		(value) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean',
	);
}

/**
 * The parameters of an operation in one place (`query`, `header`). The parameters of its path apply, too, unless the
 * operation overrides them (OpenAPI 3.1, section 4.8.9).
 */
export function parametersIn(
	document: OpenApiDocument,
	pathItem: PathItem,
	operation: OpenApiOperation,
	place: string,
): OpenApiParameter[] {
	const byName = new Map<string, OpenApiParameter>();
	for (const reference of [...(pathItem.parameters ?? []), ...(operation.parameters ?? [])]) {
		const parameter = readPart(document, reference, 'parameter');
		if (parameter.in === place && parameter.name !== undefined) byName.set(parameter.name, parameter);
	}
	return [...byName.values()];
}

/** The texts that a parameter accepts, alone or as a list. */
export function parameterChoices(document: OpenApiDocument, parameter: OpenApiParameter): string[] {
	const { schema = {} } = parameter;
	const directValues = namedValues(document, schema);
	const values = directValues.length > 0 ? directValues : namedValues(document, flatten(document, schema).items ?? {});
	return values.filter((value) => typeof value === 'string');
}

/** The schema of a body as JSON or as a merge patch (rule 2), and its media type. */
export function jsonBody({
	content = {},
}: {
	content?: Record<string, { schema?: Schema | undefined }> | undefined;
}): { type: string; schema: Schema } | undefined {
	const types = Object.keys(content);
	const type = [/^application\/json\s*(;|$)/i, mergePatchType].map((pattern) => types.find((mediaType) => pattern.test(mediaType))).find(Boolean);
	return type === undefined ? undefined : { type, schema: content[type]?.schema ?? {} };
}

/** The media type of RFC 7396. */
export const mergePatchType = /^application\/merge-patch\+json\b/i;

/** The schema of a JSON request or response body. */
export function jsonSchema(described: Parameters<typeof jsonBody>[0]): Schema | undefined {
	return jsonBody(described)?.schema;
}
