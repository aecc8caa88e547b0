import { grantTypes } from '../oauth/tokens.ts';
import { formBody, oauthTag, textSchema } from './oauth-parts.ts';
import { oauthErrors } from './oauth-responses.ts';
import { commonHeaders, errors, headerRefs, success } from './responses.ts';

const byClient = [{ clientSecret: [] }, {}];

const inBody = {
	client_id: textSchema('The client ID, unless HTTP Basic carries it.'),
	client_secret: textSchema('The secret of a confidential client, unless HTTP Basic carries it.'),
};

/** The endpoints that clients call directly (RFC 6749, 7009, 8414). */
export const tokenPaths = {
	'/oauth/token': {
		post: {
			operationId: 'getToken',
			tags: [oauthTag.name],
			summary: 'Get a token',
			description: 'Exchanges an authorization code, once, or a refresh token, for new tokens.',
			parameters: [],
			requestBody: formBody(
				{
					grant_type: textSchema('The grant type.', { enum: [...grantTypes.keys()] }),
					code: textSchema('With authorization_code: the code; valid for one minute.'),
					redirect_uri: textSchema('With authorization_code: the address the code was sent to.'),
					code_verifier: textSchema('With authorization_code: what the challenge was made from.'),
					refresh_token: textSchema('With refresh_token: the latest refresh token.'),
					scope: textSchema('With refresh_token: a subset of the scopes that the user has granted.'),
					...inBody,
				},
				['grant_type'],
				{ grant_type: 'refresh_token', refresh_token: 'crm_refresh_5f1c', client_id: 'cli_01jz8q' },
			),
			responses: {
				200: success('The tokens.', 'Token', 'Cache-Control'),
				...oauthErrors(400, 401, 405, 413, 429, 500, 503),
			},
			security: byClient,
		},
	},
	'/oauth/revoke': {
		post: {
			operationId: 'revokeToken',
			tags: [oauthTag.name],
			summary: 'Revoke a token',
			description:
				'Revoking a refresh token revokes the whole grant; revoking an access token revokes only ' +
				'that token. An unknown token counts as revoked.',
			parameters: [],
			requestBody: formBody(
				{ token: textSchema('Either kind of token.'), token_type_hint: textSchema('Ignored.'), ...inBody },
				['token'],
				{ token: 'crm_refresh_5f1c', client_id: 'cli_01jz8q' },
			),
			responses: {
				200: {
					description: 'The token is revoked.',
					headers: { ...commonHeaders, ...headerRefs('Cache-Control') },
				},
				...oauthErrors(400, 401, 405, 413, 429, 500, 503),
			},
			security: byClient,
		},
	},
	'/.well-known/oauth-authorization-server': {
		get: {
			operationId: 'getAuthorizationServer',
			tags: [oauthTag.name],
			summary: 'Get the server metadata',
			description: 'Endpoints, scopes and methods (RFC 8414).',
			parameters: [],
			responses: { 200: success('The metadata.', 'AuthorizationServer'), ...errors(405, 500, 503) },
			security: [],
		},
	},
};
