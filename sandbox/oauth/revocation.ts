import type { Service } from '../service.ts';
import type { Client } from '../store/clients.ts';
import { revokeGrant } from '../webhooks/grants.ts';
import { OAuthError } from './error.ts';

/**
 * Takes a token back (RFC 7009). With a refresh token everything of its grant goes; an access token
 * goes alone. A token that is not known is as good as revoked.
 *
 * @throws OAuthError invalid_grant if it is the token of another client
 */
export function revokeToken(service: Service, client: Client, token: string): void {
	const { tokens } = service.store;
	const refresh = tokens.findRefresh(token);
	const access = tokens.findAccess(token);
	const owner = refresh?.grant.clientId ?? access?.clientId;
	if (owner !== undefined && owner !== client.id) {
		throw new OAuthError('invalid_grant', 'This token was given to another client.');
	}
	if (refresh) revokeGrant(service, refresh.grant.id);
	if (access) tokens.deleteAccess(token);
}
