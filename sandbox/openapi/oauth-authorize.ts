import { standardScopes } from '../access/scopes.ts';
import { formBody, oauthTag, textSchema } from './oauth-parts.ts';
import { oauthErrors } from './oauth-responses.ts';
import { queryParameter } from './parameter.ts';
import { commonHeaders } from './responses.ts';

const page = (description: string) => ({
	description,
	headers: commonHeaders,
	content: { 'text/html': { schema: { type: 'string' } } },
});

const redirect = (description: string) => ({
	description,
	headers: {
		...commonHeaders,
		Location: { description: 'Where to go on.', schema: { type: 'string' } },
	},
});

const code = { required: true, schema: { type: 'string', enum: ['code'] } };
const needed = (parameter: ReturnType<typeof queryParameter>) => ({ ...parameter, required: true });

const authorizationParameters = [
	{ ...queryParameter('response_type', 'What to answer with.', {}), ...code },
	needed(queryParameter('client_id', 'The client that asks.', { type: 'string' })),
	needed(
		queryParameter('redirect_uri', 'Exactly one of the redirect addresses of the client.', {
			type: 'string',
			format: 'uri',
		}),
	),
	queryParameter('scope', 'What to ask for, separated by spaces; leave it out for all reading.', {
		type: 'string',
		default: standardScopes.join(' '),
	}),
	queryParameter('state', 'Comes back with the answer.', { type: 'string' }),
	needed(
		queryParameter('code_challenge', 'SHA-256 of the code verifier, in base64url (RFC 7636).', {
			type: 'string',
			pattern: '^[A-Za-z0-9_-]{43}$',
		}),
	),
	needed(
		queryParameter('code_challenge_method', 'How the challenge was made.', { type: 'string', enum: ['S256'] }),
	),
];

/** Where a user allows what an application asks for (RFC 6749, 7636, 9207). */
export const authorizePaths = {
	'/oauth/authorize': {
		parameters: authorizationParameters,
		get: {
			operationId: 'authorize',
			tags: [oauthTag.name],
			summary: 'Ask a user for permission',
			description:
				'Open it in the browser of the user, who signs in and is asked. The answer comes to ' +
				'redirect_uri, with code, state and iss, or with error.',
			parameters: [],
			responses: {
				200: page('The page that asks.'),
				303: redirect('To where the user signs in, or to redirect_uri with an error.'),
				400: page('A page that says what is wrong with client_id or redirect_uri.'),
				...oauthErrors(405, 500, 503),
			},
			security: [],
		},
		post: {
			operationId: 'decideAuthorization',
			tags: [oauthTag.name],
			summary: 'Answer for the user',
			description: 'What the page sends that asks; for that page only.',
			parameters: [],
			requestBody: formBody(
				{
					csrf: textSchema('What the page has hidden in it.'),
					decision: textSchema('What the user says.', { enum: ['allow', 'deny'] }),
				},
				['csrf', 'decision'],
				{ csrf: 'b1946ac92492d234', decision: 'allow' },
			),
			responses: {
				303: redirect('To redirect_uri, with code, state and iss, or with error.'),
				400: page('A page that says what is wrong with client_id or redirect_uri.'),
				403: page('A page that says that the form came from elsewhere.'),
				422: page('A page that says that the form is too long.'),
				...oauthErrors(405, 500, 503),
			},
			security: [],
		},
	},
};
