import type { JsonSchema } from '../schemas/json-schema.ts';

export const oauthTag = {
	name: 'oauth',
	description: 'How an application gets a token that acts for a user, and gives it back.',
};

/** How a client says which one it is; it may also say it in the body. */
export const clientSecretScheme = {
	type: 'http',
	scheme: 'basic',
	description: 'Client ID and client secret of an OAuth client, both form-urlencoded.',
};

export const textSchema = (description: string, schema: JsonSchema = {}): JsonSchema => ({
	description,
	type: 'string',
	...schema,
});

/** A body of a form. */
export const formBody = (properties: Record<string, JsonSchema>, required: string[], example: object) => ({
	required: true,
	content: {
		'application/x-www-form-urlencoded': {
			schema: { type: 'object', properties, required },
			example,
		},
	},
});
