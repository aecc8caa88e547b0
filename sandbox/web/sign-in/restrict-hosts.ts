import type { Context, MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { isIP } from 'node:net';
import type { Env } from '../../core/service.ts';
import { refusalPage } from '../pages/page.ts';

/**
 * Refuses requests whose Host is not a name of this service. A web page elsewhere can make its own name
 * resolve to this machine (DNS rebinding), and browsers would then treat it as this service. IP
 * addresses and localhost do not depend on DNS, so they are always accepted.
 *
 * @param names further names of this service
 */
export const restrictHosts = (names: readonly string[]): MiddlewareHandler<Env> =>
	createMiddleware<Env>(async (c, next) => {
		const { hostname } = new URL(c.req.url);
		const isOwn = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || isLocalName(hostname);
		if (isOwn || names.includes(hostname)) return next();
		return foreignHost(c, hostname);
	});

/** Whether a name always resolves to this machine (RFC 6761, 6.3). */
const isLocalName = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost');

const foreignHost = (c: Context<Env>, hostname: string) =>
	refusalPage(
		c,
		403,
		'Unknown host name',
		`The page was opened under the host name ${hostname}, which this service does not answer to. Open it at ` +
			'the service’s own address, or start the service with --host-name.',
	);
