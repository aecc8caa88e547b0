import type { OpenApiDocument, OpenApiOperation, OpenApiParameter, PathItem, Schema } from './openapi';
import { defined, readPart, resolve } from './documentParts';
import { countSteps, leaveOut } from './work';

/** Maximum number of schemas within one schema: 30 schemas that contain each other can be nested in 30! ways. */
const maxParts = 2_000;

const flattenedCache = new WeakMap<Schema, Schema>();

/**
 * A schema with its references followed and its `allOf` merged. `X or null` (in the notation of 3.0 or 3.1) becomes X;
 * several alternatives become what they have in common. Each schema is read once, so the work grows with the document
 * and not with the paths through it. A schema within itself is empty.
 */
export function flatten(document: OpenApiDocument, schema: Schema): Schema {
	const cachedSchema = flattenedCache.get(schema);
	if (cachedSchema) return cachedSchema;
	const flat = inOnePiece(document, schema, { flat: new Map(), left: maxParts });
	for (const same of [schema, resolve(document, schema, 'schema'), flat]) flattenedCache.set(same, flat);
	return flat;
}

/** Maximum nesting of schemas, which are read recursively. */
const maxDepth = 100;

interface Parts {
	flat: Map<Schema, Schema>;
	/** How many more may be read. */
	left: number;
}

function inOnePiece(document: OpenApiDocument, schema: Schema, parts: Parts, depth = 0): Schema {
	const resolvedSchema = resolve(document, schema, 'schema');
	const cachedSchema = flattenedCache.get(resolvedSchema) ?? parts.flat.get(resolvedSchema);
	if (cachedSchema) return cachedSchema;
	// Empty to the schemas it contains, which ends cycles.
	parts.flat.set(resolvedSchema, {});
	countSteps(document, 1);
	const flat = (schemas: Schema[] = []) =>
		schemas.flatMap((part) => (countPart(document, parts, depth) ? [inOnePiece(document, part, parts, depth + 1)] : []));
	const all = flat(resolvedSchema.allOf);
	const alternatives = [...flat(resolvedSchema.anyOf), ...flat(resolvedSchema.oneOf)].filter(isNotNull);
	const merged = mergedInto(resolvedSchema, [...all, ...commonOf(alternatives)]);
	parts.flat.set(resolvedSchema, merged);
	return merged;
}

/** Counts a part towards the limits. @returns whether it is still within them */
function countPart(document: OpenApiDocument, parts: Parts, depth: number): boolean {
	parts.left -= 1;
	const isWithin = parts.left >= 0 && depth < maxDepth;
	if (!isWithin) leaveOut(document, `schemas with more than ${maxParts} parts, or nested more than ${maxDepth} levels deep`);
	return isWithin;
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
	if (others.every(({ format }) => format === first.format)) common.format = first.format;
	const areObjects = alternatives.every(({ type, properties }) => type === 'object' || properties);
	if (!areObjects) return [common];

	// Each name is valid by itself; the service checks the combination.
	const properties = new Map<string, Schema>();
	for (const [name, property] of alternatives.flatMap((alternative) => Object.entries(alternative.properties ?? {}))) {
		const existingProperty = properties.get(name) ?? property;
		const isSame = existingProperty === property || JSON.stringify(existingProperty) === JSON.stringify(property);
		properties.set(name, isSame ? existingProperty : {});
	}
	const inOthers = others.map((other) => new Set(other.required));
	const required = (first.required ?? []).filter((name) => inOthers.every((names) => names.has(name)));
	return [{ ...common, type: 'object', properties: Object.fromEntries(properties), required }];
}

/** The flattened alternatives of a schema and of its alternatives, without null. */
function alternativesOf(document: OpenApiDocument, schema: Schema): Schema[] {
	const found = new Set<Schema>();
	const waiting = [flatten(document, schema)];
	for (let current = waiting.pop(); current && found.size < maxParts; current = waiting.pop()) {
		if (found.has(current)) continue;
		found.add(current);
		const currentAlternatives = [...(current.oneOf ?? []), ...(current.anyOf ?? [])].reverse();
		for (const alternative of currentAlternatives) waiting.push(flatten(document, alternative));
	}
	const all = [...found];
	return all.filter((alternative) => isNotNull(alternative) && (all.length === 1 || !(alternative.anyOf ?? alternative.oneOf)));
}

/**
 * The values that a schema names, by an enumeration, as a constant or in its alternatives. Another alternative may
 * allow further values by a pattern.
 */
export function namedValues(document: OpenApiDocument, schema: Schema): Array<string | number | boolean> {
	const flatSchema = flatten(document, schema);
	const named = flatSchema.enum ?? (flatSchema.const === undefined ? undefined : [flatSchema.const]);
	const isAlternative = flatSchema.anyOf ?? flatSchema.oneOf;
	const inAlternatives = () =>
		alternativesOf(document, flatSchema).flatMap((alternative) => alternative.enum ?? alternative.const ?? []);
	const values = named ?? (isAlternative ? inAlternatives() : []);
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
	const schema = schemaOf(parameter);
	const directValues = namedValues(document, schema);
	const values = directValues.length > 0 ? directValues : namedValues(document, flatten(document, schema).items ?? {});
	return values.filter((value) => typeof value === 'string');
}

/** The schema of a parameter, which may be described by a media type (OpenAPI 3.1, section 4.8.12). */
export const schemaOf = (parameter: OpenApiParameter): Schema => parameter.schema ?? jsonSchema(parameter) ?? {};

/** The largest whole number that a schema allows, if it limits it. */
export function maxNumber({ maximum, exclusiveMaximum }: Schema): number | undefined {
	const limits = [maximum ?? Infinity];
	if (typeof exclusiveMaximum === 'number') limits.push(Math.ceil(exclusiveMaximum) - 1);
	if (exclusiveMaximum === true && maximum !== undefined) limits.push(Math.ceil(maximum) - 1);
	const maxValue = Math.min(...limits);
	return maxValue === Infinity || maxValue < 1 ? undefined : Math.floor(maxValue);
}

/** Whether a media type is JSON (RFC 6839), but not JSON Patch (RFC 6902), which is a list of steps. */
const isJson = (type: string): boolean =>
	/^(application\/json|[^;]*\+json|\*\/\*|application\/\*)\s*(;|$)/i.test(type) && !/json-patch/i.test(type);

/** The schema of a JSON request or response body, and its media type. */
export function jsonBody({
	content = {},
}: {
	content?: Record<string, { schema?: Schema | undefined }> | undefined;
}): { type: string; schema: Schema } | undefined {
	const types = Object.keys(content).filter(isJson);
	const type = types.find((mediaType) => /^application\/json/i.test(mediaType)) ?? types[0];
	return type === undefined ? undefined : { type, schema: content[type]?.schema ?? {} };
}

/** The schema of a JSON request or response body. */
export function jsonSchema(described: Parameters<typeof jsonBody>[0]): Schema | undefined {
	return jsonBody(described)?.schema;
}
