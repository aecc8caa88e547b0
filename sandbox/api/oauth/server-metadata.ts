import { z } from 'zod/v4';
import { clientAuthenticationMethods } from './client-authentication.ts';
import { scopes } from '../../domain/access/scopes.ts';
import { grantTypes } from './token-exchange.ts';
import type { Context } from 'hono';

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
