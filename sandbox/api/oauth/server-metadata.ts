import { z } from 'zod/v4';
import { scopes } from '../../domain/access/scopes.ts';
import { grantTypes } from './token-exchange.ts';
import type { Context } from 'hono';
import type { Client } from '../../core/store/credentials/clients.ts';
import type { Store } from '../../core/store/store.ts';
import { OAuthError } from './oauth-error.ts';

const clientAuthenticationMethods = ['client_secret_basic', 'client_secret_post', 'none'];

/**
 * Authenticates a client (RFC 6749, 2.3): by HTTP Basic, by parameters in the body, or, if it is
 * public, by its id alone.
 *
 * @throws OAuthError invalid_client, invalid_request (two methods at once)
 */
export function authenticateClient(
	{ clients }: Store,
	authorization: string | undefined,
	parameters: Map<string, string>,
): Client {
	const basic = authorization === undefined ? undefined : parseBasic(authorization);
	const inBody = parameters.get('client_id');
	if (basic && (parameters.has('client_secret') || (inBody ?? basic.id) !== basic.id)) {
		throw new OAuthError('invalid_request', 'Authenticate the client with one method, not with two.');
	}
	const id = basic?.id ?? inBody;
	const secret = basic ? basic.secret : parameters.get('client_secret');
	const client = id === undefined ? undefined : clients.find(id);
	if (!client) throw invalidClient('The client is unknown. Check the client ID.');
	if (client.isConfidential && secret === undefined) {
		throw invalidClient('This client is confidential and must send its secret.');
	}
	if (secret !== undefined && !clients.hasSecret(client.id, secret)) {
		throw invalidClient('The client secret is wrong.');
	}
	return client;
}

/** Both parts are form-urlencoded (RFC 6749, 2.3.1). An empty secret counts as absent. */
function parseBasic(authorization: string): { id: string; secret: string | undefined } {
	const encoded = /^Basic +([A-Za-z0-9+/=_-]+) *$/i.exec(authorization)?.[1];
	const pair = Buffer.from(encoded ?? '', 'base64').toString();
	const colon = pair.indexOf(':');
	if (colon === -1) throw invalidClient('The header Authorization is not valid HTTP Basic.');
	const [id, secret] = [pair.slice(0, colon), pair.slice(colon + 1)].map(formDecode);
	return { id: id!, secret: secret || undefined };
}

function formDecode(text: string): string {
	try {
		return decodeURIComponent(text.replaceAll('+', ' '));
	} catch {
		throw invalidClient('The client ID and secret must be form-urlencoded.');
	}
}

const invalidClient = (description: string) =>
	new OAuthError('invalid_client', description, { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="crm-platform"' } });

/** The paths of the endpoints. RFC 8414, section 3, prescribes that of the metadata. */
export const oauthPaths = {
	authorize: '/oauth/authorize',
	token: '/oauth/token',
	revoke: '/oauth/revoke',
	metadata: '/.well-known/oauth-authorization-server',
} as const;

/** The authorization server metadata (RFC 8414). */
export const serverMetadata = (issuer: string) => ({
	issuer,
	authorization_endpoint: `${issuer}${oauthPaths.authorize}`,
	token_endpoint: `${issuer}${oauthPaths.token}`,
	revocation_endpoint: `${issuer}${oauthPaths.revoke}`,
	scopes_supported: [...scopes.keys()],
	response_types_supported: ['code'],
	response_modes_supported: ['query'],
	grant_types_supported: [...grantTypes.keys()],
	token_endpoint_auth_methods_supported: clientAuthenticationMethods,
	revocation_endpoint_auth_methods_supported: clientAuthenticationMethods,
	code_challenge_methods_supported: ['S256'],
	authorization_response_iss_parameter_supported: true,
});

export const serverMetadataSchema = z.object({}).meta({
	id: 'AuthorizationServer',
	description: 'Metadata of the authorization server; RFC 8414, section 2, defines its members.',
	example: serverMetadata('https://crm-platform.example'),
});

/** The issuer identifier: the origin of the request, because the service has no configured address. */
export const issuerOf = (c: Context): string => new URL(c.req.url).origin;
