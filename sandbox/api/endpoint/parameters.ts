import type { z } from 'zod/v4';
import { idempotencyKeyHeader } from '../http/idempotency.ts';
import type { Parameter } from './responses.ts';
import { type JsonSchema, jsonSchema } from '../../core/schemas/json-schema.ts';

/** An example for readers. The documentation's request tester sends it only if the reader enables it. */
export const documentationExample = (value: unknown) => ({ examples: { example: { value, 'x-disabled': true } } });

export const queryParameter = (name: string, description: string, schema: JsonSchema): Parameter => ({
	name,
	in: 'query',
	description,
	schema,
});

/** The parameters that the schema of a query describes. */
export function queryParametersOf(query: z.ZodObject): Parameter[] {
	const { properties = {}, required = [] } = jsonSchema(query, 'input');
	return Object.entries(properties).map(([name, { description, examples, 'x-custom-fields': customFields, ...schema }]) => {
		// A default applies if the parameter is absent.
		const type = query.shape[name] as z.ZodType;
		const { data: standard } = type.safeParse(undefined);
		return {
			...queryParameter(name, description!, { ...schema, ...(standard !== undefined && { default: standard }) }),
			...(required.includes(name) && { required: true }),
			...(schema.type === 'array' && ({ style: 'form', explode: false } as const)),
			...(examples && documentationExample(examples[0])),
			...(customFields !== undefined && { 'x-custom-fields': customFields }),
		};
	});
}

/** A comma-separated list. */
export const listParameter = (name: string, description: string, items: JsonSchema): Parameter => ({
	...queryParameter(name, description, { type: 'array', items }),
	style: 'form',
	explode: false,
});

export const idempotencyKeyParameter: Parameter = {
	name: idempotencyKeyHeader,
	in: 'header',
	description: 'A unique value for each request. A retry with the same key has no second effect.',
	schema: { type: 'string', minLength: 1, maxLength: 255 },
	...documentationExample('6f1c1b8e-8a43-4a3a-9b53-1d2f5f3c7d10'),
};

export const ifMatchParameter: Parameter = {
	name: 'If-Match',
	in: 'header',
	description: 'The ETag of the expected version; if it is outdated, the request fails.',
	schema: { type: 'string' },
	...documentationExample('"3"'),
};
