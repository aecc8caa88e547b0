import type { JsonSchema } from '../schemas/json-schema.ts';

export interface Parameter {
	name: string;
	in: 'query' | 'path' | 'header';
	description: string;
	required?: boolean;
	schema: JsonSchema;
	style?: 'form';
	explode?: boolean;
	examples?: Record<string, { value: unknown; 'x-disabled': boolean }>;
}

/** An example for readers. The documentation's request tester does not send it unless told to. */
export const documentationExample = (value: unknown) => ({ examples: { example: { value, 'x-disabled': true } } });

export const queryParameter = (name: string, description: string, schema: JsonSchema): Parameter => ({
	name,
	in: 'query',
	description,
	schema,
});

/** A comma list. */
export const listParameter = (name: string, description: string, items: JsonSchema): Parameter => ({
	...queryParameter(name, description, { type: 'array', items }),
	style: 'form',
	explode: false,
});
