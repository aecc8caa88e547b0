import { idempotencyKeyHeader } from '../http/idempotency.ts';
import type { Parameter } from '../http/operation.ts';
import { pageSize } from '../queries/list-query.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';

/** An example for readers. The documentation's request tester does not send it unless told to. */
export const documentationExample = (value: unknown) => ({ examples: { example: { value, 'x-disabled': true } } });

export const queryParameter = (name: string, description: string, schema: JsonSchema): Parameter => ({
	name,
	in: 'query',
	description,
	schema,
});

export const requiredQueryParameter = (...about: Parameters<typeof queryParameter>): Parameter => ({
	...queryParameter(...about),
	required: true,
});

/** A comma-separated list. */
export const listParameter = (
	name: string,
	description: string,
	items: JsonSchema,
	limits: { maxItems?: number } = {},
): Parameter => ({
	...queryParameter(name, description, { type: 'array', items, ...limits }),
	style: 'form',
	explode: false,
});

export const pathParameter = (name: string, description: string): Parameter => ({
	name,
	in: 'path',
	description,
	required: true,
	schema: { type: 'string', maxLength: 64 },
});

/** The query parameters that every list has. */
export const pageParameters: Parameter[] = [
	queryParameter('cursor', 'The next_cursor of the previous page; filters and sort must stay the same.', {
		type: 'string',
	}),
	queryParameter('limit', 'Maximum number of records per page. A page of large records has fewer, and a next_cursor.', {
		type: 'integer',
		minimum: pageSize.minimum,
		maximum: pageSize.maximum,
		default: pageSize.standard,
	}),
];

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
