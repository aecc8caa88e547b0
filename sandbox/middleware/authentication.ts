import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { grantableScopes, scopeFor } from '../oauth/scopes.ts';
import { Problem } from '../problem.ts';
import type { Env, Service } from '../service.ts';

/**
 * Finds out who is calling and what they may see, and lets everyone pass. A token is worth what its
 * user may do now: nothing once they are deactivated, less once they have a lesser role.
 */
export const identify = ({ store, now }: Service) =>
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
		c.set('store', caller ? store.seenBy(caller) : store);
		await next();
	});

/** Lets nobody pass without valid credentials (challenges: RFC 6750, 3). */
export const authenticated = createMiddleware<Env>(async (c, next) => {
	if (c.get('caller')) return next();
	if (c.get('isExpired')) {
		throw new Problem('token_expired', 'Get a new access token with the refresh token.', {
			headers: { 'WWW-Authenticate': challenge('invalid_token') },
		});
	}
	const isGiven = Boolean(c.req.header('Authorization'));
	const detail = isGiven
		? 'This API key or access token is not known, or was revoked. Check that it was copied whole.'
		: 'Send an API key or access token in the header Authorization: Bearer <API_KEY>.';
	throw new Problem('invalid_credentials', detail, {
		headers: { 'WWW-Authenticate': isGiven ? challenge('invalid_token') : challenge() },
	});
});

/** Lets an access token do only what the user has allowed; an API key may do everything. */
export const authorized = createMiddleware<Env>(async (c, next) => {
	if (!c.get('scopes')) return next();
	const scope = scopeFor(c.req.method, c.req.path);
	if (scope === undefined) throw new Problem('not_found', `There is nothing at ${c.req.path}.`);
	if (scope !== null) refuseWithoutScope(c, scope);
	await next();
});

/** @throws Problem insufficient_scope */
export function refuseWithoutScope(c: Context<Env>, scope: string): void {
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
