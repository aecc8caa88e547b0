import { clientAuthenticationMethods } from '../oauth/client-authentication.ts';
import { oauthErrorCodes } from '../oauth/error.ts';
import { serverMetadata } from '../oauth/metadata.ts';
import { scopes } from '../access/scopes.ts';
import { grantTypes } from '../oauth/tokens.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { textSchema } from './oauth-parts.ts';

const address = (description: string) => textSchema(description, { format: 'uri' });

const texts = (description: string, options: string[]): JsonSchema => ({
	description,
	type: 'array',
	items: { type: 'string', enum: options },
});

/** Every property is always there. */
const whole = (
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

/** What the endpoints of OAuth 2.0 answer. */
export const oauthSchemas: Record<string, JsonSchema> = {
	Token: whole(
		'Tokens that act for a user (RFC 6749, 5.1).',
		{
			access_token: textSchema('Sent as Authorization: Bearer.'),
			token_type: textSchema('The kind of access token.', { enum: ['Bearer'] }),
			expires_in: { description: 'Seconds the access token lasts.', type: 'integer', minimum: 1 },
			refresh_token: textSchema('Gets new tokens; replaces the one before.'),
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
	OAuthError: whole(
		'What went wrong (RFC 6749, 5.2).',
		{
			error: textSchema('For programs.', { enum: [...oauthErrorCodes] }),
			error_description: textSchema('What is wrong with this request.'),
		},
		{ error: 'invalid_grant', error_description: 'This code has expired. Ask the user again.' },
	),
	AuthorizationServer: whole(
		'What a client needs to know about the authorization server (RFC 8414).',
		{
			issuer: address('The name of the server.'),
			authorization_endpoint: address('Where users are asked.'),
			token_endpoint: address('Where tokens are got.'),
			revocation_endpoint: address('Where tokens are given back.'),
			scopes_supported: texts('What can be asked for.', [...scopes.keys()]),
			response_types_supported: texts('What the user’s answer can be.', ['code']),
			response_modes_supported: texts('How the answer gets to the client.', ['query']),
			grant_types_supported: texts('What can be exchanged for a token.', [...grantTypes.keys()]),
			token_endpoint_auth_methods_supported: texts(
				'How a client says which one it is.',
				clientAuthenticationMethods,
			),
			revocation_endpoint_auth_methods_supported: texts(
				'How a client says which one it is.',
				clientAuthenticationMethods,
			),
			code_challenge_methods_supported: texts('How a challenge is made (RFC 7636).', ['S256']),
			authorization_response_iss_parameter_supported: {
				description: 'Whether the answer says which server it is from (RFC 9207).',
				type: 'boolean',
			},
		},
		serverMetadata('https://crm-platform.example'),
	),
};
