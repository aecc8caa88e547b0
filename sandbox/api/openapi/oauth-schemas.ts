import { z } from 'zod/v4';
import { administrativeScopes, scopes, standardScopes } from '../../domain/access/scopes.ts';
import { commonHeaders, headerRefs } from '../endpoint/responses.ts';
import { type OAuthErrorCode, oauthErrorCodes } from '../oauth/oauth-error.ts';
import { oauthPaths, serverMetadata } from '../oauth/server-metadata.ts';
import { type JsonSchema, jsonSchema } from '../../core/schemas/json-schema.ts';
import { errorHeaders } from './problems.ts';

/** The security scheme of access tokens. */
export const oauth2Scheme = {
	type: 'oauth2',
	description:
		'A token acts for the user who granted it, with the rights that the user has now. ' +
		'Administrators see all records. Other users see records that they own or that have no ' +
		'owner (for notes: no author), the messages of contacts, tickets and deals that they see, the ' +
		'messages that they wrote or received, and their own jobs and webhooks; other records are ' +
		`not found. Only administrators can grant ${administrativeScopes.join(', ')}, and viewers ` +
		'only scopes to read; scopes that a user cannot grant are removed. With a scope to write but ' +
		'not to read, responses contain only the id and version of a record. Deactivating a user ' +
		'revokes their tokens and pauses their webhooks; revoking a refresh token deletes the ' +
		'webhooks created with its grant. PKCE with S256 is mandatory. Access tokens are valid for an ' +
		'hour. Using a refresh token replaces it; for 10 more minutes it stays valid and returns the ' +
		`same successor. The default scopes are ${standardScopes.join(' ')}. The metadata at ` +
		`${oauthPaths.metadata} lists everything else.`,
	flows: {
		authorizationCode: {
			authorizationUrl: oauthPaths.authorize,
			tokenUrl: oauthPaths.token,
			refreshUrl: oauthPaths.token,
			scopes: Object.fromEntries(scopes),
		},
	},
};

/** HTTP Basic with client ID and secret; a client may send them in the body instead. */
export const clientSecretScheme = {
	type: 'http',
	scheme: 'basic',
	description: 'Client ID and client secret of an OAuth client, both form-urlencoded.',
};

/** The error codes of the OAuth 2.0 endpoints by status (RFC 6749, 5.2). */
const oauthCodes: Record<number, OAuthErrorCode[]> = {
	400: ['invalid_request', 'invalid_grant', 'invalid_scope', 'unsupported_grant_type'],
	401: ['invalid_client'],
	405: ['invalid_request'],
	413: ['invalid_request'],
	415: ['invalid_request'],
	429: ['temporarily_unavailable'],
	500: ['server_error'],
	503: ['temporarily_unavailable'],
};

export const oauthErrorResponses = (): Record<string, unknown> =>
	Object.fromEntries(
		Object.entries(oauthCodes).map(([status, codes]) => [
			`OAuth${status}`,
			{
				description: `${codes.join(', ')}.`,
				headers: {
					...commonHeaders,
					...headerRefs('Cache-Control', ...(errorHeaders[Number(status)] ?? [])),
				},
				content: {
					'application/json': {
						schema: { $ref: '#/components/schemas/OAuthError' },
						examples: Object.fromEntries(
							codes.map((error) => [
								error,
								{ value: { error, error_description: 'An explanation of the error.' } },
							]),
						),
					},
				},
			},
		]),
	);

const member = (description: string) => z.string().meta({ description });

const described = (schema: z.ZodObject, description: string, example: object): JsonSchema => ({
	...jsonSchema(schema, 'output'),
	description,
	example,
});

/** The schemas of the OAuth 2.0 endpoints' responses. */
export const oauthSchemas: Record<string, JsonSchema> = {
	Token: described(
		z.object({
			access_token: member('Sent as Authorization: Bearer.'),
			token_type: z.enum(['Bearer']).meta({ description: 'The kind of access token.' }),
			expires_in: z.int().min(1).meta({ description: 'The lifetime of the access token in seconds.' }),
			refresh_token: member('Exchange it for new tokens; it replaces the previous refresh token.'),
			scope: member('The scopes of the access token, separated by spaces.'),
		}),
		'Tokens that act for a user (RFC 6749, 5.1).',
		{
			access_token: 'crm_access_3d2f',
			token_type: 'Bearer',
			expires_in: 3600,
			refresh_token: 'crm_refresh_5f1c',
			scope: 'contacts:read contacts:write',
		},
	),
	OAuthError: described(
		z.object({
			error: z.enum(oauthErrorCodes).meta({ description: 'The error code.' }),
			error_description: member('An explanation of the error.'),
		}),
		'An error (RFC 6749, 5.2).',
		{ error: 'invalid_grant', error_description: 'This code has expired. Ask the user again.' },
	),
	AuthorizationServer: {
		description: 'Metadata of the authorization server; RFC 8414, section 2, defines its members.',
		type: 'object',
		example: serverMetadata('https://crm-platform.example'),
	},
};
