import type { Service, TokenLifetimes } from '../service.ts';
import type { Client } from '../store/clients.ts';
import type { Grant } from '../store/grants.ts';
import { revokeGrant } from '../webhooks/grants.ts';
import { OAuthError } from './error.ts';
import { required } from './parameters.ts';
import { verifies } from './pkce.ts';
import { grantableScopes, parseScopes } from './scopes.ts';

/** A client that refreshes several times at once, or lost an answer, is not logged out. */
export const usualLifetimes: TokenLifetimes = {
	accessToken: 60 * 60 * 1000,
	replacedRefreshToken: 10 * 60 * 1000,
};

/** RFC 6749, 5.1. */
export interface TokenAnswer {
	access_token: string;
	token_type: 'Bearer';
	expires_in: number;
	refresh_token: string;
	scope: string;
}

type Exchange = (
	service: Service,
	client: Client,
	parameters: Map<string, string>,
) => TokenAnswer;

/**
 * Exchanges an authorization code, once. A second use means that somebody else has the code, so
 * everything it gave is revoked (RFC 6749, 4.1.2).
 *
 * @throws OAuthError invalid_grant, invalid_request
 */
const exchangeCode: Exchange = (service, client, parameters) => {
	const { store, now } = service;
	const secret = required(parameters, 'code');
	const redirectUri = required(parameters, 'redirect_uri');
	const verifier = required(parameters, 'code_verifier');
	const code = store.grants.findCode(secret);
	if (!code || code.grant.clientId !== client.id) throw invalidGrant('This code is not known.');
	if (code.isUsed) {
		revokeGrant(service, code.grant.id);
		throw invalidGrant('This code was used before. The tokens it gave are revoked.');
	}
	if (now() >= code.expiresAt) throw invalidGrant('This code has expired. Ask the user again.');
	if (redirectUri !== code.redirectUri) {
		throw invalidGrant('redirect_uri is not the one that the code was sent to.');
	}
	if (!verifies(verifier, code.challenge)) {
		throw invalidGrant('code_verifier does not belong to the code_challenge.');
	}
	return store.transaction(() => {
		store.grants.markUsed(secret);
		return issue(service, code.grant, code.grant.scopes);
	});
};

/**
 * Exchanges a refresh token for new tokens. The old one stays good for a while, and gives the same
 * new one again; used later, it was probably stolen, so the whole grant is revoked (RFC 9700, 4.14.2).
 *
 * @throws OAuthError invalid_grant, invalid_request, invalid_scope
 */
const refresh: Exchange = (service, client, parameters) => {
	const { store, now, tokenLifetimes } = service;
	const secret = required(parameters, 'refresh_token');
	const token = store.tokens.findRefresh(secret);
	if (!token || token.grant.clientId !== client.id) {
		throw invalidGrant('This refresh token is not known, or was revoked. Ask the user again.');
	}
	const { grant, replacedAt } = token;
	if (replacedAt !== null && now() - replacedAt >= tokenLifetimes.replacedRefreshToken) {
		revokeGrant(service, grant.id);
		throw invalidGrant('This refresh token was replaced. All tokens of the user are revoked.');
	}
	const asked = parameters.get('scope');
	const scopes = asked === undefined ? grant.scopes : parseScopes(asked, grant.scopes);
	if (!scopes) throw new OAuthError('invalid_scope', 'The user has not allowed all of this.');
	return store.transaction(() => {
		store.tokens.replaceRefresh(secret, now());
		return issue(service, grant, scopes, secret);
	});
};

export const grantTypes: ReadonlyMap<string, Exchange> = new Map([
	['authorization_code', exchangeCode],
	['refresh_token', refresh],
]);

/**
 * @param granted a scope that the user may no longer allow is left out
 * @param replaced the refresh token that was exchanged, if it was one
 * @throws OAuthError invalid_grant if the user may not sign in any more
 */
function issue(
	service: Service,
	grant: Grant,
	granted: string[],
	replaced?: string,
): TokenAnswer {
	const { store, now, tokenLifetimes } = service;
	const member = store.members.find(grant.userId);
	if (!member) throw invalidGrant('The user who allowed this cannot sign in any more.');
	const scopes = grantableScopes(member.role, granted);
	if (scopes.length === 0) {
		throw invalidGrant('The user who allowed this may do none of it any more. Ask the user again.');
	}
	const time = now();
	const lasts = tokenLifetimes.accessToken;
	return {
		access_token: store.tokens.addAccess(grant.id, scopes, time + lasts, time),
		token_type: 'Bearer',
		expires_in: lasts / 1000,
		refresh_token: store.tokens.addRefresh(grant.id, replaced),
		scope: scopes.join(' '),
	};
}

const invalidGrant = (description: string) => new OAuthError('invalid_grant', description);
