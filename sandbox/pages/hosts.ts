import type { Context, MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { isIP } from 'node:net';
import type { Env } from '../service.ts';
import { refusalPage } from './page.ts';

/**
 * Refuses requests by way of a name that is not the service's own. A web page elsewhere can have its
 * own name lead to this machine (DNS rebinding), and would then be taken for a page of this service.
 * Addresses and localhost need no DNS, so nobody can have them lead elsewhere.
 *
 * @param names that lead here beside those
 */
export const ownHosts = (names: readonly string[]): MiddlewareHandler<Env> =>
	createMiddleware<Env>(async (c, next) => {
		const { hostname } = new URL(c.req.url);
		const isOwn = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || isLocalName(hostname);
		if (isOwn || names.includes(hostname)) return next();
		return foreignHost(c, hostname);
	});

/** RFC 6761, 6.3. */
const isLocalName = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost');

const foreignHost = (c: Context<Env>, hostname: string) =>
	refusalPage(
		c,
		403,
		'This page is not here',
		`It was opened by the name ${hostname}, which is not a name of this service. Open it by its ` +
			'address, or start the service with --host-name.',
	);
