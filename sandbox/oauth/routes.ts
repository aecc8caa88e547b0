import type { Context } from 'hono';
import { limitBody } from '../middleware/body.ts';
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
export function oauthRoutes(service: Service): Route[] {
	const clientRequest = async (c: Context<Env>) => {
		const parameters = await bodyParameters(c);
		const authorization = c.req.header('Authorization');
		return { parameters, client: authenticateClient(service.store, authorization, parameters) };
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
