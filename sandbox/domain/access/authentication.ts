import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { NoRights, rightsOf } from './authority.ts';
import { scopeFor } from './scopes.ts';
import { Problem } from '../../core/foundation/problem.ts';
import type { Authority, Env, Service } from '../../core/service.ts';
import type { ApiKey } from '../../core/store/credentials/api-keys.ts';
import type { Store } from '../../core/store/store.ts';

/**
 * Identifies the caller and sets their view of the store. It refuses no request. A token has the rights that
 * its user has now: none after the user is deactivated, fewer after a change to a lower role.
 */
export const identifyCaller = (service: Service) =>
	createMiddleware<Env>(async (c, next) => {
		const { store, now } = service;
		const credentials = credentialsOf(service, c);
		c.set('isExpired', credentials?.isExpired === true);
		c.set('store', store);
		if (credentials?.key) store.apiKeys.noteUse(credentials.key, now());
		if (credentials && !credentials.isExpired) setRights(store, c, credentials.authority);
		await next();
	});

interface Credentials {
	authority: Authority;
	/** Whether an access token has expired. */
	isExpired?: boolean;
	key?: ApiKey;
}

/** The current state of the request's API key or token; undefined if it is unknown or revoked. */
function credentialsOf({ store, now }: Service, c: Context<Env>): Credentials | undefined {
	const bearer = /^Bearer +(\S+) *$/i.exec(c.req.header('Authorization') ?? '')?.[1] ?? '';
	const key = store.apiKeys.find(bearer);
	if (key) return { authority: { caller: { type: 'api_key', id: key.id }, application: undefined }, key };
	const token = store.tokens.findAccess(bearer);
	if (token) {
		const { userId, clientId: application, ...grant } = token;
		return { authority: { caller: { type: 'user', id: userId }, application, grant }, isExpired: now() >= token.expiresAt };
	}
	const id = store.sessions.findByApiToken(bearer, now());
	return id === undefined ? undefined : { authority: { caller: { type: 'user', id }, application: undefined } };
}

function setRights(store: Store, c: Context<Env>, authority: Authority): void {
	const rights = rightsOf(store, authority);
	if (rights instanceof NoRights) return;
	c.set('authority', authority);
	c.set('caller', authority.caller);
	c.set('scopes', rights.scopes);
	c.set('store', rights.store);
}

/** Requires valid credentials (challenges: RFC 6750, section 3). */
export const requireCredentials = createMiddleware<Env>(async (c, next) => {
	if (c.get('caller')) return next();
	if (c.get('isExpired')) {
		throw new Problem('token_expired', 'Get a new access token with the refresh token.', {
			headers: { 'WWW-Authenticate': challenge('invalid_token') },
		});
	}
	throw c.req.header('Authorization') ? unknownCredentials() : missingCredentials();
});

const unknownCredentials = (): Problem =>
	new Problem(
		'invalid_credentials',
		'This API key or access token is unknown or was revoked. Check that it was copied completely.',
		{ headers: { 'WWW-Authenticate': challenge('invalid_token') } },
	);

const missingCredentials = (): Problem =>
	new Problem('invalid_credentials', 'Send an API key or access token in the header Authorization: Bearer <API_KEY>.', {
		headers: { 'WWW-Authenticate': challenge() },
	});

/** Requires the scope of the route from an access token; an API key has every scope. */
export const requireScopeOfRoute = createMiddleware<Env>(async (c, next) => {
	if (!c.get('scopes')) return next();
	const scope = scopeFor(c.req.method, c.req.path);
	if (scope === undefined) throw new Problem('not_found', `There is nothing at ${c.req.path}.`);
	if (scope !== null) requireScope(c, scope);
	return next();
});

/** @throws Problem insufficient_scope */
export function requireScope(c: Context<Env>, scope: string): void {
	const allowed = c.get('scopes');
	if (!allowed || allowed.includes(scope)) return;
	const detail = `This needs the scope ${scope}. Connect again and ask the user to allow it.`;
	throw new Problem('insufficient_scope', detail, {
		headers: { 'WWW-Authenticate': `${challenge('insufficient_scope')}, scope="${scope}"` },
		members: { scope },
	});
}

const challenge = (error?: string): string =>
	`Bearer realm="crm-platform"${error === undefined ? '' : `, error="${error}"`}`;
