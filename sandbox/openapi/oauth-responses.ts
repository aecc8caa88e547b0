import type { OAuthErrorCode } from '../oauth/error.ts';
import { commonHeaders, errorHeaders, headerRefs } from './responses.ts';

/** How the endpoints of OAuth 2.0 say no (RFC 6749, 5.2): the codes by status. */
const oauthCodes: Record<number, OAuthErrorCode[]> = {
	400: ['invalid_request', 'invalid_grant', 'invalid_scope', 'unsupported_grant_type'],
	401: ['invalid_client'],
	405: ['invalid_request'],
	413: ['invalid_request'],
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
								{ value: { error, error_description: 'What is wrong, in words.' } },
							]),
						),
					},
				},
			},
		]),
	);

export const oauthErrors = (...statuses: number[]): Record<string, { $ref: string }> =>
	Object.fromEntries(
		statuses.map((status) => [status, { $ref: `#/components/responses/OAuth${status}` }]),
	);
