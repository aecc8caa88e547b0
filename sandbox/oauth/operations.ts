import { standardScopes } from '../access/scopes.ts';
import { queryParameter, requiredQueryParameter } from '../description/parameters.ts';
import { commonHeaders, errors, noContent, success } from '../description/responses.ts';
import type { Operation, ResponseDescription } from '../http/operation.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { grantTypes } from './tokens.ts';

const oauthTags = ['oauth'];

export const textSchema = (description: string, schema: JsonSchema = {}): JsonSchema => ({
	description,
	type: 'string',
	...schema,
});

/** A form-urlencoded request body. */
const formBody = (properties: Record<string, JsonSchema>, required: string[], example: object) => ({
	required: true,
	content: {
		'application/x-www-form-urlencoded': {
			schema: { type: 'object', properties, required },
			example,
		},
	},
});

const oauthErrors = (...statuses: number[]): Record<number, ResponseDescription> =>
	Object.fromEntries(
		statuses.map((status) => [status, { $ref: `#/components/responses/OAuth${status}` }]),
	);

const page = (description: string) => ({
	description,
	headers: commonHeaders,
	content: { 'text/html': { schema: { type: 'string' } } },
});

const redirect = (description: string) => ({
	description,
	headers: {
		...commonHeaders,
		Location: { description: 'The address of the redirect.', schema: { type: 'string' } },
	},
});

const authorizationParameters = [
	requiredQueryParameter('response_type', 'The kind of response.', { type: 'string', enum: ['code'] }),
	requiredQueryParameter('client_id', 'The client that requests access.', { type: 'string' }),
	requiredQueryParameter('redirect_uri', 'Exactly one of the redirect addresses of the client.', {
		type: 'string',
		format: 'uri',
	}),
	queryParameter('scope', 'The requested scopes, separated by spaces; by default all scopes to read.', {
		type: 'string',
		default: standardScopes.join(' '),
	}),
	queryParameter('state', 'Returned unchanged with the response.', { type: 'string' }),
	requiredQueryParameter('code_challenge', 'SHA-256 of the code verifier, in base64url (RFC 7636).', {
		type: 'string',
		pattern: '^[A-Za-z0-9_-]{43}$',
	}),
	requiredQueryParameter('code_challenge_method', 'The method of the challenge.', {
		type: 'string',
		enum: ['S256'],
	}),
];

/** Where a user allows what an application asks for (RFC 6749, 7636, 9207). */
export const authorizeOperation = (): Operation => ({
	operationId: 'authorize',
	tags: oauthTags,
	summary: 'Ask a user for permission',
	description:
		'Open it in the browser of the user, who signs in and grants or denies the request. The ' +
		'response is sent to redirect_uri, with code, state and iss, or with error.',
	parameters: authorizationParameters,
	responses: {
		200: page('The page that asks for consent.'),
		303: redirect('A redirect to the sign-in page, or to redirect_uri with an error.'),
		400: page('A page that explains the error in client_id or redirect_uri.'),
		...oauthErrors(405, 500, 503),
	},
	security: [],
});

export const decideOperation = (): Operation => ({
	operationId: 'decideAuthorization',
	tags: oauthTags,
	summary: 'Grant or deny a request',
	description: 'The form of the consent page; not for other clients.',
	parameters: authorizationParameters,
	requestBody: formBody(
		{
			csrf: textSchema('The hidden token of the page.'),
			decision: textSchema('The decision of the user.', { enum: ['allow', 'deny'] }),
		},
		['csrf', 'decision'],
		{ csrf: 'b1946ac92492d234', decision: 'allow' },
	),
	responses: {
		303: redirect('A redirect to redirect_uri, with code, state and iss, or with error.'),
		400: page('A page that explains the error in client_id or redirect_uri.'),
		403: page('A page that refuses a form from another site.'),
		422: page('A page that refuses a form that is too long.'),
		...oauthErrors(405, 500, 503),
	},
	security: [],
});

const byClient = [{ clientSecret: [] }, {}];

const inBody = {
	client_id: textSchema('The client ID, unless HTTP Basic carries it.'),
	client_secret: textSchema('The secret of a confidential client, unless HTTP Basic carries it.'),
};

export const tokenOperation = (): Operation => ({
	operationId: 'getToken',
	tags: oauthTags,
	summary: 'Get a token',
	description: 'Exchanges an authorization code, once, or a refresh token, for new tokens.',
	parameters: [],
	requestBody: formBody(
		{
			grant_type: textSchema('The grant type.', { enum: [...grantTypes.keys()] }),
			code: textSchema('With authorization_code: the code; valid for one minute.'),
			redirect_uri: textSchema('With authorization_code: the address the code was sent to.'),
			code_verifier: textSchema('With authorization_code: the verifier that the challenge was derived from.'),
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
});

export const revokeOperation = (): Operation => ({
	operationId: 'revokeToken',
	tags: oauthTags,
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
		200: noContent('The token is revoked.', 'Cache-Control'),
		...oauthErrors(400, 401, 405, 413, 429, 500, 503),
	},
	security: byClient,
});

export const metadataOperation = (): Operation => ({
	operationId: 'getAuthorizationServer',
	tags: oauthTags,
	summary: 'Get the server metadata',
	description: 'Endpoints, scopes and methods (RFC 8414).',
	parameters: [],
	responses: { 200: success('The metadata.', 'AuthorizationServer'), ...errors(405, 500, 503) },
	security: [],
});
