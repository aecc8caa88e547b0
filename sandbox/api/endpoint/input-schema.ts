import { type JsonSchema, typesOf } from '../../core/schemas/json-schema.ts';

/** The schema of an input: these fields and no others. */
export const inputSchema = (
	description: string,
	fields: Array<[string, JsonSchema]>,
	needed: string[],
	example: unknown = exampleOf(fields.filter(([, schema]) => schema.examples)),
): JsonSchema => ({
	description,
	type: 'object',
	properties: Object.fromEntries(fields),
	...(needed.length > 0 && { required: needed }),
	additionalProperties: false,
	example,
});

/** A value that fits the schema: its first example, otherwise an object or a list of such values, otherwise null. */
export function exampleValue(schema: JsonSchema): unknown {
	if (schema.examples?.length) return schema.examples[0];
	if ('const' in schema) return schema['const'];
	if (schema.properties) return exampleOf(Object.entries(schema.properties));
	if (typesOf(schema).includes('null')) return null;
	if (typesOf(schema).includes('object')) return {};
	if (typesOf(schema).includes('array')) return [exampleValue(schema.items ?? {})].filter((value) => value !== null);
	return schema.enum?.[0] ?? schema['default'] ?? null;
}

export const exampleOf = (fields: Array<[string, JsonSchema]>) =>
	Object.fromEntries(fields.map(([name, schema]) => [name, exampleValue(schema)]));
