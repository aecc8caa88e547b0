import type { Context } from 'hono';
import { repeatedNames } from '../http/query-texts.ts';
import { OAuthError } from './oauth-error.ts';

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
