import type { Context, Hono, MiddlewareHandler } from 'hono';
import { type Deprecation, deprecated } from './deprecation.ts';
import { Problem } from '../foundation/problem.ts';
import type { Env } from './service.ts';

export interface Route {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	path: string;
	handler(c: Context<Env>): Response | Promise<Response>;
	middleware?: MiddlewareHandler;
	deprecation?: Deprecation;
}

/**
 * Mounts routes; any other method on one of their paths is a 405 that says which are allowed.
 *
 * @param now in milliseconds since 1970
 */
export function mount(app: Hono<Env>, routes: Route[], now: () => number): void {
	for (const { method, path, handler, middleware, deprecation } of routes) {
		if (deprecation) app.on(method, path, deprecated(deprecation, now));
		if (middleware) app.on(method, path, middleware);
		app.on(method, path, handler);
	}
	for (const path of new Set(routes.map((route) => route.path))) {
		const methods = routes.filter((route) => route.path === path).map(({ method }) => method);
		const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
		app.all(path, (c) => {
			const allow = allowed.join(', ');
			throw new Problem('method_not_allowed', `${c.req.method} is not possible here, only ${allow}.`, {
				headers: { Allow: allow },
			});
		});
	}
}
