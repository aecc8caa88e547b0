import { oauthErrorCodes } from '../oauth/error.ts';
import { serverMetadata } from '../oauth/metadata.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { textSchema } from './oauth-parts.ts';

/** An object whose properties are all required. */
const objectSchema = (
	description: string,
	properties: Record<string, JsonSchema>,
	example: object,
): JsonSchema => ({
	description,
	type: 'object',
	properties,
	required: Object.keys(properties),
	example,
});

/** The schemas of the OAuth 2.0 endpoints' responses. */
export const oauthSchemas: Record<string, JsonSchema> = {
	Token: objectSchema(
		'Tokens that act for a user (RFC 6749, 5.1).',
		{
			access_token: textSchema('Sent as Authorization: Bearer.'),
			token_type: textSchema('The kind of access token.', { enum: ['Bearer'] }),
			expires_in: { description: 'Seconds the access token lasts.', type: 'integer', minimum: 1 },
			refresh_token: textSchema('Exchange it for new tokens; it replaces the previous refresh token.'),
			scope: textSchema('What the access token allows, separated by spaces.'),
		},
		{
			access_token: 'crm_access_3d2f',
			token_type: 'Bearer',
			expires_in: 3600,
			refresh_token: 'crm_refresh_5f1c',
			scope: 'contacts:read contacts:write',
		},
	),
	OAuthError: objectSchema(
		'What went wrong (RFC 6749, 5.2).',
		{
			error: textSchema('The error code.', { enum: [...oauthErrorCodes] }),
			error_description: textSchema('The error in words.'),
		},
		{ error: 'invalid_grant', error_description: 'This code has expired. Ask the user again.' },
	),
	AuthorizationServer: {
		description: 'Metadata of the authorization server; RFC 8414, section 2, defines its members.',
		type: 'object',
		example: serverMetadata('https://crm-platform.example'),
	},
};
