import { type Access, scopeOf, scopes, standardScopes } from '../oauth/scopes.ts';

/** How an application gets a token, and what the user lets it do. */
export const oauth2Scheme = {
	type: 'oauth2',
	description:
		'A token acts for the user who allowed it. Administrators see all records; other users see ' +
		'the records they own and those without an owner (of notes: an author), and only their own ' +
		'jobs; any other record is not found. PKCE ' +
		'with S256 is mandatory. Access tokens last an hour. A refresh token is replaced whenever it ' +
		'is used, and stays valid for 10 minutes more. Without scope, a client gets ' +
		`${standardScopes.join(' ')}. ` +
		'Tokens are revoked at /oauth/revoke; /.well-known/oauth-authorization-server has the rest.',
	flows: {
		authorizationCode: {
			authorizationUrl: '/oauth/authorize',
			tokenUrl: '/oauth/token',
			refreshUrl: '/oauth/token',
			scopes: Object.fromEntries(scopes),
		},
	},
};

/** What a request about a resource needs: an API key, or a token with the scope for it. */
export const securityOf = (resource: string, access: Access) => [
	{ apiKey: [] },
	{ oauth2: [scopeOf(resource, access)] },
];
