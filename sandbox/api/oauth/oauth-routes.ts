import type { Context } from 'hono';
import { type ApiRoute, endpoint } from '../endpoint/endpoint.ts';
import { noContent, success } from '../endpoint/responses.ts';
import type { Env, Service } from '../../core/service.ts';
import { authenticateClient, issuerOf, oauthPaths, serverMetadata, serverMetadataSchema } from './server-metadata.ts';
import { noStore, OAuthError, bodyParameters, requiredParameter } from './oauth-error.ts';
import { revocationForm, tokenForm } from './oauth-forms.ts';
import { grantTypes, tokenSchema } from './token-exchange.ts';
import type { Client } from '../../core/store/credentials/clients.ts';
import { revokeGrant } from '../webhooks/revoke-access.ts';

/** The endpoints of OAuth 2.0. */
export function oauthRoutes(service: Service): ApiRoute[] {
	const byClient = { tag: 'oauth', errors: [400, 401, 413, 415, 429], security: [{ clientSecret: [] }, {}] };
	return [
		endpoint({
			...byClient,
			method: 'POST',
			path: oauthPaths.token,
			id: 'getToken',
			summary: 'Get a token',
			description: 'Exchanges an authorization code, once, or a refresh token, for new tokens.',
			body: tokenForm,
			responses: { 200: success('The tokens.', tokenSchema, 'Cache-Control') },
			async handle(c) {
				const { client, parameters } = await clientRequest(service, c);
				const exchange = grantTypes.get(requiredParameter(parameters, 'grant_type'));
				if (!exchange) {
					const grantTypeList = [...grantTypes.keys()].join(', ');
					throw new OAuthError('unsupported_grant_type', `grant_type is one of: ${grantTypeList}.`);
				}
				return c.json(exchange(service, client, parameters), 200, noStore);
			},
		}),
		endpoint({
			...byClient,
			method: 'POST',
			path: oauthPaths.revoke,
			id: 'revokeToken',
			summary: 'Revoke a token',
			description:
				'Revoking a refresh token revokes the whole grant; revoking an access token revokes only ' +
				'that token. An unknown token counts as revoked.',
			body: revocationForm,
			responses: { 200: noContent('The token is revoked.', 'Cache-Control') },
			async handle(c) {
				const { client, parameters } = await clientRequest(service, c);
				revokeToken(service, client, requiredParameter(parameters, 'token'));
				return c.body(null, 200, noStore);
			},
		}),
		endpoint({
			method: 'GET',
			path: oauthPaths.metadata,
			id: 'getAuthorizationServer',
			tag: 'oauth',
			summary: 'Get the server metadata',
			description: 'Endpoints, scopes and methods (RFC 8414).',
			responses: { 200: success('The metadata.', serverMetadataSchema) },
			security: [],
			handle: (c) => c.json(serverMetadata(issuerOf(c))),
		}),
	];
}

async function clientRequest({ store }: Service, c: Context<Env>) {
	const parameters = await bodyParameters(c);
	return { parameters, client: authenticateClient(store, c.req.header('Authorization'), parameters) };
}

/**
 * Revokes a token (RFC 7009). A refresh token revokes its whole grant, an access token only itself. An
 * unknown token counts as revoked.
 *
 * @throws OAuthError invalid_grant if the token belongs to another client
 */
function revokeToken(service: Service, client: Client, token: string): void {
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
