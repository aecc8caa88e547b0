import type { Service } from '../../core/service.ts';
import type { Client } from '../../core/store/credentials/clients.ts';
import { revokeGrant } from '../webhooks/revoke-access.ts';
import { OAuthError } from './oauth-error.ts';

/**
 * Revokes a token (RFC 7009). A refresh token revokes its whole grant, an access token only itself. An
 * unknown token counts as revoked.
 *
 * @throws OAuthError invalid_grant if the token belongs to another client
 */
export function revokeToken(service: Service, client: Client, token: string): void {
	const { tokens } = service.store;
	const refresh = tokens.findRefresh(token);
	const access = tokens.findAccess(token);
	const owner = refresh?.grant.clientId ?? access?.clientId;
	if (owner !== undefined && owner !== client.id) {
		throw new OAuthError('invalid_grant', 'This token was issued to another client.');
	}
	if (refresh) revokeGrant(service, refresh.grant.id);
	if (access) tokens.deleteAccess(token);
}
