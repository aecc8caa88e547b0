import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { grantableScopes, scopeFor } from './scopes.ts';
import { Problem } from '../foundation/problem.ts';
import type { Env, Service } from '../http/service.ts';
import { storeSeenBy } from '../store/visible-store.ts';

/**
 * Identifies the caller and sets their view of the store; refuses nobody. A token has the rights that
 * its user has now: none after the user is deactivated, fewer after a change to a lesser role.
 */
export const identifyCaller = ({ store, now }: Service) =>
	createMiddleware<Env>(async (c, next) => {
		const bearer = /^Bearer +(\S+) *$/i.exec(c.req.header('Authorization') ?? '')?.[1] ?? '';
		const key = store.apiKeys.find(bearer);
		const token = key ? undefined : store.tokens.findAccess(bearer);
		c.set('isExpired', token !== undefined && now() >= token.expiresAt);
		if (key) {
			store.apiKeys.noteUse(key, now());
			c.set('caller', { type: 'api_key', id: key.id });
		}
		const member = token && !c.get('isExpired') ? store.members.find(token.userId) : undefined;
		if (token && member) {
			c.set('caller', { type: 'user', id: member.id });
			c.set('scopes', grantableScopes(member.role, token.scopes));
			c.set('grantId', token.grantId);
		}
		const caller = c.get('caller');
		c.set('store', caller ? storeSeenBy(store, caller) : store);
		await next();
	});

/** Requires valid credentials (challenges: RFC 6750, section 3). */
export const requireCredentials = createMiddleware<Env>(async (c, next) => {
	if (c.get('caller')) return next();
	if (c.get('isExpired')) {
		throw new Problem('token_expired', 'Get a new access token with the refresh token.', {
			headers: { 'WWW-Authenticate': challenge('invalid_token') },
		});
	}
	const isGiven = Boolean(c.req.header('Authorization'));
	const detail = isGiven
		? 'This API key or access token is unknown or was revoked. Check that it was copied completely.'
		: 'Send an API key or access token in the header Authorization: Bearer <API_KEY>.';
	throw new Problem('invalid_credentials', detail, {
		headers: { 'WWW-Authenticate': isGiven ? challenge('invalid_token') : challenge() },
	});
});

/** Requires the scope of the route from an access token; an API key has every scope. */
export const requireScopeOfRoute = createMiddleware<Env>(async (c, next) => {
	if (!c.get('scopes')) return next();
	const scope = scopeFor(c.req.method, c.req.path);
	if (scope === undefined) throw new Problem('not_found', `There is nothing at ${c.req.path}.`);
	if (scope !== null) requireScope(c, scope);
	await next();
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
