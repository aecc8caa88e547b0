import type { JsonSchema } from '../schemas/json-schema.ts';

export const oauthTag = {
	name: 'oauth',
	description: 'How an application gets an access token for a user, and revokes it.',
};

/** HTTP Basic with client ID and secret; a client may send them in the body instead. */
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

/** A form-urlencoded request body. */
export const formBody = (properties: Record<string, JsonSchema>, required: string[], example: object) => ({
	required: true,
	content: {
		'application/x-www-form-urlencoded': {
			schema: { type: 'object', properties, required },
			example,
		},
	},
});
