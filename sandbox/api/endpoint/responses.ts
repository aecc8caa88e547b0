import type { z } from 'zod/v4';
import { componentRef, type JsonSchema } from '../../core/schemas/json-schema.ts';

/** A Parameter Object (OpenAPI 3.1, 4.8.12). */
export interface Parameter {
	name: string;
	in: 'query' | 'path' | 'header';
	description: string;
	required?: boolean;
	schema: JsonSchema;
	style?: 'form';
	explode?: boolean;
	example?: string;
	examples?: Record<string, { value: unknown; 'x-disabled': boolean }>;
}

/** A Response Object (OpenAPI 3.1, 4.8.17), or a reference to one under components. */
export interface ResponseDescription {
	$ref?: string;
	description?: string;
	headers?: object;
	content?: object;
	links?: object;
}

/** An Operation Object (OpenAPI 3.1, 4.8.10). */
export interface Operation {
	operationId: string;
	tags: string[];
	summary: string;
	description?: string;
	/** The parameters, except those of the path. */
	parameters: Parameter[];
	requestBody?: object;
	responses: Record<number, ResponseDescription>;
	/** Set only for endpoints without scopes; for all others, the credentials follow from the path. */
	security?: Array<Record<string, string[]>>;
	deprecated?: true;
	/** An extension of this API. */
	[extension: `x-${string}`]: unknown;
}

type References = Record<string, { $ref: string }>;

export const headerRefs = (...names: string[]): References =>
	Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** The headers of every response. */
export const commonHeaders = headerRefs('X-Request-Id', 'X-RateLimit-Remaining', 'X-RateLimit-Reset');

/** A response without a described body. */
export const noContent = (description: string, ...extraHeaders: string[]) => ({
	description,
	headers: { ...commonHeaders, ...headerRefs(...extraHeaders) },
});

/**
 * A successful response with a JSON body.
 *
 * @param schema a schema with an id, or the name of a schema that is derived from a resource
 */
export const success = (description: string, schema: z.ZodType | string, ...extraHeaders: string[]) => ({
	...noContent(description, ...extraHeaders),
	content: { 'application/json': { schema: componentRef(typeof schema === 'string' ? schema : schema.meta()!.id!) } },
});

/** A page of a list, with a link to the operation that gets the next page. */
export const pageResponse = (description: string, schema: string, operationId: string) => ({
	...success(description, schema),
	links: { next: { operationId, parameters: { cursor: '$response.body#/next_cursor' } } },
});

/** The errors of every request with credentials. The document adds them to each operation. */
export const commonErrors = [401, 403, 405, 429, 500, 503];

/** References to error responses under components, such as `Problem404`. */
export const errors = (statuses: number[], format: 'OAuth' | 'Problem' = 'Problem'): Record<number, ResponseDescription> =>
	Object.fromEntries(
		statuses.map((status) => [status, { $ref: `#/components/responses/${format}${status}` }]),
	);

export const jsonBody = (schema: JsonSchema, required = true) => ({ required, content: { 'application/json': { schema } } });
