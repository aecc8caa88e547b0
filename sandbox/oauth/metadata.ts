import { clientAuthenticationMethods } from './client-authentication.ts';
import { scopes } from '../access/scopes.ts';
import { grantTypes } from './tokens.ts';

/** What a client can read about this server (RFC 8414). */
export const serverMetadata = (issuer: string) => ({
	issuer,
	authorization_endpoint: `${issuer}/oauth/authorize`,
	token_endpoint: `${issuer}/oauth/token`,
	revocation_endpoint: `${issuer}/oauth/revoke`,
	scopes_supported: [...scopes.keys()],
	response_types_supported: ['code'],
	response_modes_supported: ['query'],
	grant_types_supported: [...grantTypes.keys()],
	token_endpoint_auth_methods_supported: clientAuthenticationMethods,
	revocation_endpoint_auth_methods_supported: clientAuthenticationMethods,
	code_challenge_methods_supported: ['S256'],
	authorization_response_iss_parameter_supported: true,
});
