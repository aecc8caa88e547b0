import { z } from 'zod/v4';
import type { Service, TokenLifetimes } from '../../core/service.ts';
import { describedText } from '../../core/schemas/fields.ts';
import type { Client } from '../../core/store/credentials/clients.ts';
import type { Grant } from '../../core/store/credentials/grants.ts';
import { revokeGrant } from '../webhooks/revoke-access.ts';
import { OAuthError, requiredParameter } from './oauth-error.ts';
import { grantableScopes, parseScopes } from '../../domain/access/scopes.ts';
import { createHash } from 'node:crypto';
import { isSameSecret } from '../../core/store/credentials/secrets.ts';

/** A SHA-256 hash in base64url without padding (RFC 7636, 4.2). */
export const challengePattern = /^[A-Za-z0-9_-]{43}$/;

/** Verifies a code verifier against a challenge with the method S256 (RFC 7636, 4.6). */
function verifies(verifier: string, challenge: string): boolean {
	if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
	return isSameSecret(createHash('sha256').update(verifier).digest('base64url'), challenge);
}

/**
 * Access tokens last an hour. A replaced refresh token stays valid for ten minutes, so that concurrent
 * refreshes and lost responses do not disconnect a client.
 */
export const defaultLifetimes: TokenLifetimes = { accessToken: 60 * 60 * 1000, replacedRefreshToken: 10 * 60 * 1000 };

/** A successful token response (RFC 6749, 5.1). */
export const tokenSchema = z.object({
	access_token: describedText('Sent as Authorization: Bearer.'),
	token_type: z.enum(['Bearer']).meta({ description: 'The kind of access token.' }),
	expires_in: z.int().min(1).meta({ description: 'The lifetime of the access token in seconds.' }),
	refresh_token: describedText('Exchange it for new tokens; it replaces the previous refresh token.'),
	scope: describedText('The scopes of the access token, separated by spaces.'),
}).meta({
	id: 'Token',
	description: 'Tokens that act for a user (RFC 6749, 5.1).',
	example: {
		access_token: 'crm_access_3d2f',
		token_type: 'Bearer',
		expires_in: 3600,
		refresh_token: 'crm_refresh_5f1c',
		scope: 'contacts:read contacts:write',
	},
});

type Token = z.output<typeof tokenSchema>;

type Exchange = (service: Service, client: Client, parameters: Map<string, string>) => Token;

/**
 * Exchanges an authorization code, once. A second use means that the code was stolen, so its grant is
 * revoked (RFC 6749, 4.1.2).
 *
 * @throws OAuthError invalid_grant, invalid_request
 */
const exchangeCode: Exchange = (service, client, parameters) => {
	const { store, now } = service;
	const secret = requiredParameter(parameters, 'code');
	const redirectUri = requiredParameter(parameters, 'redirect_uri');
	const verifier = requiredParameter(parameters, 'code_verifier');
	const code = store.grants.findCode(secret);
	if (!code || code.grant.clientId !== client.id) throw invalidGrant('This code is unknown.');
	if (code.isUsed) {
		revokeGrant(service, code.grant.id);
		throw invalidGrant('This code was used before. The tokens issued for it are revoked.');
	}
	if (now() >= code.expiresAt) throw invalidGrant('This code has expired. Ask the user again.');
	if (redirectUri !== code.redirectUri) {
		throw invalidGrant('redirect_uri differs from that of the authorization request.');
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
 * Exchanges a refresh token for new tokens. The old one stays valid for a while and yields the same
 * successor; later use indicates theft, so the whole grant is revoked (RFC 9700, 4.14.2).
 *
 * @throws OAuthError invalid_grant, invalid_request, invalid_scope
 */
const exchangeRefreshToken: Exchange = (service, client, parameters) => {
	const { store, now, tokenLifetimes } = service;
	const secret = requiredParameter(parameters, 'refresh_token');
	const token = store.tokens.findRefresh(secret);
	if (!token || token.grant.clientId !== client.id) {
		throw invalidGrant('This refresh token is unknown or was revoked. Ask the user again.');
	}
	const { grant, replacedAt } = token;
	if (replacedAt !== null && now() - replacedAt >= tokenLifetimes.replacedRefreshToken) {
		revokeGrant(service, grant.id);
		throw invalidGrant('This refresh token was replaced. All tokens of the user are revoked.');
	}
	const requested = parameters.get('scope');
	const scopes = requested === undefined ? grant.scopes : parseScopes(requested, grant.scopes);
	if (!scopes) throw new OAuthError('invalid_scope', 'The grant does not include all of these scopes.');
	return store.transaction(() => {
		store.tokens.replaceRefresh(secret, now());
		return issue(service, grant, scopes, secret);
	});
};

export const grantTypes: ReadonlyMap<string, Exchange> = new Map([
	['authorization_code', exchangeCode],
	['refresh_token', exchangeRefreshToken],
]);

/**
 * @param granted the scopes to issue; those that the user can no longer grant are left out
 * @param replaced the refresh token that was exchanged, if any
 * @throws OAuthError invalid_grant if the user can no longer sign in
 */
function issue(service: Service, grant: Grant, granted: string[], replaced?: string): Token {
	const { store, now, tokenLifetimes } = service;
	const member = store.members.find(grant.userId);
	if (!member) throw invalidGrant('The user who granted this can no longer sign in.');
	const scopes = grantableScopes(member.role, granted);
	if (scopes.length === 0) {
		throw invalidGrant('The user who granted this no longer has any of these rights. Ask the user again.');
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
