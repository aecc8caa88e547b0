import type { OpenApiDocument, OpenApiOperation, OpenApiParameter, PathItem, Schema } from './openapi';
import { defined, readPart, resolve } from './parts';

/**
 * A schema in one piece: references followed, `allOf` merged, `X or null` (as 3.0 and 3.1 write it)
 * read as X, and several alternatives as what they have in common.
 *
 * @param ancestors references on the way here: a schema that is part of itself ends there
 */
export function flatten(
	document: OpenApiDocument,
	schema: Schema,
	ancestors: readonly string[] = [],
): Schema {
	const { $ref } = schema;
	if ($ref !== undefined && ancestors.includes($ref)) return {};
	const path = $ref === undefined ? ancestors : [...ancestors, $ref];
	const own = resolve(document, schema, 'schema');
	const flat = (part: Schema) => flatten(document, part, path);
	const alternatives = [...(own.anyOf ?? []), ...(own.oneOf ?? [])].map(flat).filter(isNotNull);
	const parts = [...(own.allOf ?? []).map(flat), ...commonOf(alternatives)];
	return parts.reduceRight(
		(merged, part) => ({
			...part,
			...defined(merged),
			properties:
				part.properties || merged.properties
					? { ...part.properties, ...merged.properties }
					: undefined,
			required: [...(part.required ?? []), ...(merged.required ?? [])],
		}),
		own,
	);
}

const isNotNull = ({ type, enum: values }: Schema): boolean =>
	type !== 'null' && !(values?.length === 1 && values[0] === null);

/** What holds whichever of the alternatives a value is. */
function commonOf(alternatives: Schema[]): Schema[] {
	const [first, ...others] = alternatives;
	if (!first || others.length === 0) return alternatives;
	const types = alternatives.map(({ type }) => type);
	const common: Schema = types.includes(undefined) ? {} : { type: [...new Set(types.flatMap((type) => type ?? []))] };
	if (alternatives.every((one) => one.enum)) common.enum = alternatives.flatMap((one) => one.enum ?? []);
	if (others.every(({ format }) => format === first.format)) common.format = first.format;
	const areObjects = alternatives.every(({ type, properties }) => type === 'object' || properties);
	if (!areObjects) return [common];

	// Each name is one of the service's; whether the names fit each other, the service says.
	const properties: Record<string, Schema> = {};
	for (const [name, property] of alternatives.flatMap((one) => Object.entries(one.properties ?? {}))) {
		const known = properties[name];
		properties[name] = known && JSON.stringify(known) !== JSON.stringify(property) ? {} : property;
	}
	const required = (first.required ?? []).filter((name) =>
		others.every((other) => other.required?.includes(name)),
	);
	return [{ ...common, type: 'object', properties, required }];
}

/**
 * The parameters of an operation in one place (`query`, `header`). Those of its path apply too,
 * unless the operation gives them again (OpenAPI 3.1, section 4.8.9).
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

/** The values a parameter takes, one by one or as a list. */
export function parameterChoices(document: OpenApiDocument, { schema = {} }: OpenApiParameter): string[] {
	const own = flatten(document, schema);
	// A parameter may take values of a pattern as well as the listed ones.
	const named = (own.anyOf ?? []).map((one) => flatten(document, one).enum).find(Boolean);
	const values = own.enum ?? flatten(document, own.items ?? {}).enum ?? named ?? [];
	return values.filter((value) => typeof value === 'string');
}

/** The largest whole number a schema allows, where it says one. */
export function largestNumber({ maximum, exclusiveMaximum, enum: values = [] }: Schema): number | undefined {
	const limits = [maximum ?? Infinity];
	if (typeof exclusiveMaximum === 'number') limits.push(Math.ceil(exclusiveMaximum) - 1);
	if (exclusiveMaximum === true && maximum !== undefined) limits.push(Math.ceil(maximum) - 1);
	const sizes = values.map(Number).filter((value) => value >= 1);
	if (sizes.length > 0) limits.push(Math.max(...sizes));
	const largest = Math.min(...limits);
	return largest === Infinity || largest < 1 ? undefined : Math.floor(largest);
}

/** Media types of JSON (RFC 6839), a JSON Patch (RFC 6902) aside: that is a list of steps. */
const isJson = (type: string): boolean =>
	/^(application\/json|[^;]*\+json|\*\/\*|application\/\*)\s*(;|$)/i.test(type) && !/json-patch/i.test(type);

/** The schema of a JSON request or response body, and the media type it is described for. */
export function jsonBody({
	content = {},
}: {
	content?: Record<string, { schema?: Schema | undefined }> | undefined;
}): { type: string; schema: Schema } | undefined {
	const types = Object.keys(content).filter(isJson);
	const type = types.find((one) => /^application\/json/i.test(one)) ?? types[0];
	return type === undefined ? undefined : { type, schema: content[type]?.schema ?? {} };
}

/** The schema of a JSON request or response body. */
export function jsonSchema(described: Parameters<typeof jsonBody>[0]): Schema | undefined {
	return jsonBody(described)?.schema;
}
