import { type Access, administrativeScopes, scopeOf, scopes, standardScopes } from '../oauth/scopes.ts';

/** How an application gets a token, and what the user lets it do. */
export const oauth2Scheme = {
	type: 'oauth2',
	description:
		'A token acts for the user who allowed it, and can do what that user can do now. ' +
		'Administrators see all records; other users see the records they own and those without an ' +
		'owner (of notes: an author), the messages of contacts, tickets and deals that they see and ' +
		'those they wrote or received, and only their own jobs and webhooks; any other record is not ' +
		`found. Only administrators grant ${administrativeScopes.join(', ')}, and viewers only scopes ` +
		'to read: what a user cannot grant is left out. A scope to write without the one to read ' +
		'answers the id and the version of a record. Deactivating a user ends their tokens and pauses ' +
		'their webhooks; revoking a refresh token deletes the webhooks made with its grant. PKCE ' +
		'with S256 is mandatory. Access tokens last an hour. A refresh token is replaced when it is ' +
		'used; for 10 minutes more it can be used again, and gives the same new one. Without scope, a client gets ' +
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
