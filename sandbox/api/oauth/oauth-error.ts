import { z } from 'zod/v4';
import type { Problem } from '../../core/foundation/problem.ts';
import { describedText } from '../../core/schemas/fields.ts';
import type { Context } from 'hono';
import { repeatedNames } from '../http/query-texts.ts';

/** The error codes of RFC 6749, 4.1.2.1 and 5.2. */
const oauthErrorCodes = [
	'access_denied',
	'invalid_client',
	'invalid_grant',
	'invalid_request',
	'invalid_scope',
	'server_error',
	'temporarily_unavailable',
	'unsupported_grant_type',
	'unsupported_response_type',
] as const;

export type OAuthErrorCode = (typeof oauthErrorCodes)[number];

export const oauthErrorSchema = z.object({
	error: z.enum(oauthErrorCodes).meta({ description: 'The error code.' }),
	error_description: describedText('An explanation of the error.'),
}).meta({
	id: 'OAuthError',
	description: 'An error (RFC 6749, 5.2).',
	example: { error: 'invalid_grant', error_description: 'This code has expired. Ask the user again.' },
});

/** An error of the token or revocation endpoint (RFC 6749, 5.2). */
export class OAuthError extends Error {
	readonly code: OAuthErrorCode;
	private readonly status: number;
	private readonly headers: Record<string, string>;

	constructor(
		code: OAuthErrorCode,
		description: string,
		{ status = 400, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
	) {
		super(description);
		this.code = code;
		this.status = status;
		this.headers = headers;
	}

	response(): Response {
		const body = { error: this.code, error_description: this.message };
		return Response.json(body, { status: this.status, headers: { ...noStore, ...this.headers } });
	}
}

/** Forbids caching of tokens and of errors about them (RFC 6749, 5.1). */
export const noStore = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

/** Converts any problem of the service to the error that OAuth clients expect. */
export function oauthErrorOf({ status, message, headers }: Problem): OAuthError {
	return new OAuthError(codeOf(status), message, { status, headers });
}

function codeOf(status: number): OAuthErrorCode {
	if (status === 429 || status === 503) return 'temporarily_unavailable';
	return status >= 500 ? 'server_error' : 'invalid_request';
}

export interface Parameters {
	/** Parameters without a value are treated as absent (RFC 6749, 3.1). */
	values: Map<string, string>;
	/** The names of repeated parameters, which are not allowed. */
	repeated: string[];
}

export function parametersOf(form: URLSearchParams): Parameters {
	return { values: new Map([...form].filter(([, value]) => value !== '')), repeated: repeatedNames(form) };
}

/**
 * Reads the parameters in the body of a request to the token or revocation endpoint.
 *
 * @throws OAuthError invalid_request
 */
export async function bodyParameters(c: Context): Promise<Map<string, string>> {
	const type = c.req.header('Content-Type') ?? '';
	if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(type)) {
		const detail = 'Send the parameters as application/x-www-form-urlencoded in the body.';
		throw new OAuthError('invalid_request', detail);
	}
	const { values, repeated } = parametersOf(new URLSearchParams(await c.req.text()));
	if (repeated.length === 0) return values;
	throw new OAuthError('invalid_request', `${repeated.join(', ')} must not be repeated.`);
}

/** @throws OAuthError invalid_request */
export function requiredParameter(parameters: Map<string, string>, name: string): string {
	const value = parameters.get(name);
	if (value !== undefined) return value;
	throw new OAuthError('invalid_request', `The parameter ${name} is missing.`);
}
