import type { JsonSchema } from '../../core/schemas/json-schema.ts';

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
