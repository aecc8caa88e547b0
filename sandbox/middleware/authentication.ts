import { createMiddleware } from 'hono/factory';
import { Problem } from '../problem.ts';
import type { Env, Service } from '../service.ts';

/** Finds out who is calling, and lets everyone pass. */
export const identify = ({ store }: Service) =>
	createMiddleware<Env>(async (c, next) => {
		const key = /^Bearer +(\S+) *$/i.exec(c.req.header('Authorization') ?? '')?.[1];
		const id = key === undefined ? undefined : store.apiKeys.find(key);
		c.set('caller', id === undefined ? undefined : { type: 'api_key', id });
		await next();
	});

/** Lets nobody pass without valid credentials (challenge: RFC 6750, 3). */
export const authenticated = createMiddleware<Env>(async (c, next) => {
	if (!c.get('caller')) {
		const detail = c.req.header('Authorization')
			? 'This API key is not known. Check that it was copied whole.'
			: 'Send an API key in the header Authorization: Bearer <API_KEY>.';
		throw new Problem('invalid_credentials', detail, {
			headers: { 'WWW-Authenticate': 'Bearer realm="crm-platform"' },
		});
	}
	await next();
});
