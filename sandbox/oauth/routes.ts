import type { Context } from 'hono';
import { addressOf } from '../http/address.ts';
import { limitBody } from '../http/body.ts';
import { spendRequest } from '../http/rate-limit.ts';
import type { RateLimiter } from '../http/rate-limiter.ts';
import type { ApiRoute } from '../http/route.ts';
import type { Env, Service } from '../http/service.ts';
import { authorizeRoutes } from './authorize.ts';
import { authenticateClient } from './client-authentication.ts';
import { noStore, OAuthError } from './error.ts';
import { issuerOf } from './issuer.ts';
import { oauthPaths, serverMetadata } from './metadata.ts';
import { metadataOperation, revokeOperation, tokenOperation } from './operations.ts';
import { bodyParameters, requiredParameter } from './parameters.ts';
import { revokeToken } from './revocation.ts';
import { grantTypes } from './tokens.ts';

/** The endpoints of OAuth 2.0. */
export function oauthRoutes(service: Service, limiter: RateLimiter): ApiRoute[] {
	/**
	 * Counts requests by client, so that nobody else can exhaust its limit; by address until the client
	 * is known.
	 */
	const clientRequest = async (c: Context<Env>) => {
		c.set('window', `OAuth ${addressOf(c)}`);
		try {
			const parameters = await bodyParameters(c);
			const client = authenticateClient(service.store, c.req.header('Authorization'), parameters);
			// The id of a public client is not secret, so anybody can claim it.
			const place = client.isConfidential ? '' : ` at ${addressOf(c)}`;
			c.set('window', `client ${client.id}${place}`);
			return { parameters, client };
		} finally {
			spendRequest(service, limiter, c);
		}
	};

	const token: ApiRoute['handler'] = async (c) => {
		const { client, parameters } = await clientRequest(c);
		const exchange = grantTypes.get(requiredParameter(parameters, 'grant_type'));
		if (!exchange) {
			const known = [...grantTypes.keys()].join(', ');
			throw new OAuthError('unsupported_grant_type', `grant_type is one of: ${known}.`);
		}
		return c.json(exchange(service, client, parameters), 200, noStore);
	};

	const revoke: ApiRoute['handler'] = async (c) => {
		const { client, parameters } = await clientRequest(c);
		revokeToken(service, client, requiredParameter(parameters, 'token'));
		return c.body(null, 200, noStore);
	};

	return [
		...authorizeRoutes(service),
		{
			method: 'POST',
			path: oauthPaths.token,
			handler: token,
			middleware: limitBody,
			operation: tokenOperation,
		},
		{
			method: 'POST',
			path: oauthPaths.revoke,
			handler: revoke,
			middleware: limitBody,
			operation: revokeOperation,
		},
		{
			method: 'GET',
			path: oauthPaths.metadata,
			handler: (c) => c.json(serverMetadata(issuerOf(c))),
			operation: metadataOperation,
		},
	];
}
