import type { Context } from 'hono';
import { addressOf } from '../middleware/address.ts';
import { limitBody } from '../middleware/body.ts';
import { type RateLimiter, spendRequest } from '../middleware/rate-limit.ts';
import type { Route } from '../router.ts';
import type { Env, Service } from '../service.ts';
import { authorizeRoutes } from './authorize.ts';
import { authenticateClient } from './client-authentication.ts';
import { noStore, OAuthError } from './error.ts';
import { issuerOf } from './issuer.ts';
import { serverMetadata } from './metadata.ts';
import { bodyParameters, required } from './parameters.ts';
import { revokeToken } from './revocation.ts';
import { grantTypes } from './tokens.ts';

/** The endpoints of OAuth 2.0: where users allow things, and where clients get tokens. */
export function oauthRoutes(service: Service, limiter: RateLimiter): Route[] {
	/** Counts by client, so that nobody else uses up its requests; by address while it is unknown. */
	const clientRequest = async (c: Context<Env>) => {
		c.set('window', `OAuth ${addressOf(c)}`);
		try {
			const parameters = await bodyParameters(c);
			const client = authenticateClient(service.store, c.req.header('Authorization'), parameters);
			// The id of a public client is no secret, so anybody can claim to be one.
			const place = client.isConfidential ? '' : ` at ${addressOf(c)}`;
			c.set('window', `client ${client.id}${place}`);
			return { parameters, client };
		} finally {
			spendRequest(service, limiter, c);
		}
	};

	const token: Route['handler'] = async (c) => {
		const { client, parameters } = await clientRequest(c);
		const exchange = grantTypes.get(required(parameters, 'grant_type'));
		if (!exchange) {
			const known = [...grantTypes.keys()].join(', ');
			throw new OAuthError('unsupported_grant_type', `grant_type is one of: ${known}.`);
		}
		return c.json(exchange(service, client, parameters), 200, noStore);
	};

	const revoke: Route['handler'] = async (c) => {
		const { client, parameters } = await clientRequest(c);
		revokeToken(service, client, required(parameters, 'token'));
		return c.body(null, 200, noStore);
	};

	return [
		...authorizeRoutes(service),
		{ method: 'POST', path: '/oauth/token', handler: token, middleware: limitBody },
		{ method: 'POST', path: '/oauth/revoke', handler: revoke, middleware: limitBody },
		{
			method: 'GET',
			path: '/.well-known/oauth-authorization-server',
			handler: (c) => c.json(serverMetadata(issuerOf(c))),
		},
	];
}
