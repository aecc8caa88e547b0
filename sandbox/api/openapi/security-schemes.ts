import { administrativeScopes, scopes, defaultScopes } from '../../domain/access/scopes.ts';
import { oauthPaths } from '../oauth/server-metadata.ts';

/** The security scheme of access tokens. */
export const oauth2Scheme = {
	type: 'oauth2',
	description:
		'A token acts for the user who granted it, with the rights that the user has now. ' +
		'Administrators see all records. Other users see records that they own or that have no ' +
		'owner (for notes: no author), the messages of contacts, tickets and deals that they see, the ' +
		'messages that they wrote or received, and their own jobs and webhooks; other records are ' +
		`not found. Only administrators can grant ${administrativeScopes.join(', ')}, and viewers ` +
		'only scopes to read; scopes that a user cannot grant are removed. With a scope to write but ' +
		'not to read, responses contain only the id and version of a record. Deactivating a user ' +
		'revokes their tokens and pauses their webhooks; revoking a refresh token deletes the ' +
		'webhooks created with its grant. PKCE with S256 is mandatory. Access tokens are valid for an ' +
		'hour. Using a refresh token replaces it; for 10 more minutes it stays valid and returns the ' +
		`same successor. The default scopes are ${defaultScopes.join(' ')}. The metadata at ` +
		`${oauthPaths.metadata} lists everything else.`,
	flows: {
		authorizationCode: {
			authorizationUrl: oauthPaths.authorize,
			tokenUrl: oauthPaths.token,
			refreshUrl: oauthPaths.token,
			scopes: Object.fromEntries(scopes),
		},
	},
};

/** HTTP Basic with client ID and secret; a client may send them in the body instead. */
export const clientSecretScheme = {
	type: 'http',
	scheme: 'basic',
	description: 'Client ID and client secret of an OAuth client, both form-urlencoded.',
};
