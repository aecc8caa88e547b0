import { type JsonSchema, typesOf } from './json-schema.ts';
import type { Resource } from './resource.ts';

/**
 * The id in every example. The last record of each type in the sample data has it, so that requests can
 * be sent as the documentation shows them.
 */
export const exampleId = (prefix: string): string => `${prefix}_01jz8q4t6v9x2b5n7m3k1h0d4f`;

type NamedSchema = [name: string, schema: JsonSchema];

/** A body that creates a record: the examples of its fields, unless the definition has others. */
export const createExample = (resource: Resource, fields: NamedSchema[]): Record<string, unknown> => ({
	...firstExamples(fields),
	...resource.examples?.create,
});

/**
 * A body that updates any record: the important fields, except unique ones and those whose values depend
 * on other fields.
 */
export function updateExample(resource: Resource, fields: NamedSchema[]): Record<string, unknown> {
	const fixed = [...Object.values(resource.unique).flat(), resource.states?.field];
	const isSimple = (schema: JsonSchema) =>
		!('x-resource' in schema) && ['string', 'number', 'integer'].some((type) => typesOf(schema).includes(type));
	const free = fields.filter(([name, schema]) => resource.important.includes(name) && !fixed.includes(name) && isSimple(schema));
	return resource.examples?.update ?? firstExamples(free);
}

const firstExamples = (fields: NamedSchema[]): Record<string, unknown> =>
	Object.fromEntries(fields.filter(([, { examples }]) => examples).map(([name, { examples }]) => [name, examples![0]]));
