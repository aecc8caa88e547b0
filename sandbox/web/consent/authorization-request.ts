import type { Client } from '../../core/store/credentials/clients.ts';
import type { Store } from '../../core/store/store.ts';
import type { OAuthErrorCode, Parameters } from '../../api/oauth/oauth-error.ts';
import { challengePattern } from '../../api/oauth/token-exchange.ts';
import { parseScopes, scopes, defaultScopes } from '../../domain/access/scopes.ts';

export interface AuthorizationRequest {
	client: Client;
	redirectUri: string;
	state: string | undefined;
	scopes: string[];
	challenge: string;
}

/** Where a response goes, once the address is verified to be the client's. */
export type Recipient = Pick<AuthorizationRequest, 'client' | 'redirectUri' | 'state'>;

/**
 * Identifies the client and the redirect address. If either is invalid, the error is shown to the user
 * only (RFC 6749, 4.1.2.1).
 *
 * @returns the recipient, or the error as a sentence for the user
 */
export function recipientOf({ clients }: Store, { values, repeated }: Parameters): Recipient | string {
	const clientId = values.get('client_id');
	const redirectUri = values.get('redirect_uri');
	if (repeated.includes('client_id') || repeated.includes('redirect_uri')) {
		return 'The request repeats client_id or redirect_uri.';
	}
	const client = clientId === undefined ? undefined : clients.find(clientId);
	if (!client) return 'The application is not registered here. Check its client ID.';
	if (redirectUri === undefined || !client.redirectUris.includes(redirectUri)) {
		return (
			`${client.name} asks for a redirect to an address that is not registered for it: ` +
			`${redirectUri ?? 'none'}. Register exactly this redirect address in the settings.`
		);
	}
	return { client, redirectUri, state: values.get('state') };
}

/** Parses the rest of the request, or returns the error for the client. */
export function parseAuthorizationRequest(
	recipient: Recipient,
	{ values, repeated }: Parameters,
): AuthorizationRequest | { error: OAuthErrorCode; description: string } {
	const challenge = values.get('code_challenge');
	const requestedScope = values.get('scope');
	const granted = requestedScope === undefined ? defaultScopes : parseScopes(requestedScope, scopes.keys());
	if (repeated.length > 0) {
		return refusal('invalid_request', `${repeated.join(', ')} must not be repeated.`);
	}
	if (!values.has('response_type')) {
		return refusal('invalid_request', 'The parameter response_type is missing.');
	}
	if (values.get('response_type') !== 'code') {
		return refusal('unsupported_response_type', 'The only response_type is code.');
	}
	if (challenge === undefined || values.get('code_challenge_method') !== 'S256') {
		return refusal('invalid_request', 'PKCE is required: send code_challenge with the method S256.');
	}
	if (!challengePattern.test(challenge)) {
		return refusal('invalid_request', 'code_challenge must be a SHA-256 hash in base64url.');
	}
	if (!granted) {
		return refusal('invalid_scope', `Every scope must be one of: ${[...scopes.keys()].join(', ')}.`);
	}
	return { ...recipient, scopes: granted, challenge };
}

const refusal = (error: OAuthErrorCode, description: string) => ({ error, description });

/**
 * The address that the browser is redirected to with the response. It always contains `iss`, so that
 * the client knows which server responds (RFC 9207).
 */
export function responseUrl({ redirectUri, state }: Recipient, issuer: string, response: Record<string, string>): string {
	const url = new URL(redirectUri);
	const all = { ...response, ...(state !== undefined && { state }), iss: issuer };
	for (const [name, value] of Object.entries(all)) url.searchParams.append(name, value);
	return url.href;
}
