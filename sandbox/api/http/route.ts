import type { Context, Hono, MiddlewareHandler } from 'hono';
import { Problem } from '../../core/foundation/problem.ts';
import type { Env } from '../../core/service.ts';

/** The path of the interactive documentation. */
export const docsPath = '/docs';

export interface Route {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** A template, as OpenAPI writes it: `/v1/contacts/{id}`. */
	path: string;
	handler(c: Context<Env>): Response | Promise<Response>;
	middleware?: MiddlewareHandler;
}

/**
 * Mounts routes. Any other method on one of their paths is a 405 that lists the allowed methods.
 * A path without parameters takes precedence: `/v1/users/me` is not the user `me`.
 */
export function mount(app: Hono<Env>, routes: Route[]): void {
	const hasParameters = ({ path }: Route) => Number(path.includes('{'));
	const sorted = routes.toSorted((a, b) => hasParameters(a) - hasParameters(b));
	for (const { method, path, handler, middleware } of sorted) {
		const pattern = honoPath(path);
		if (middleware) app.on(method, pattern, middleware);
		app.on(method, pattern, handler);
	}
	for (const path of new Set(sorted.map((route) => route.path))) {
		const methods = routes.filter((route) => route.path === path).map(({ method }) => method);
		const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
		app.all(honoPath(path), (c) => {
			const allow = allowed.join(', ');
			throw new Problem('method_not_allowed', `${c.req.method} is not allowed here. Allowed: ${allow}.`, {
				headers: { Allow: allow },
			});
		});
	}
}

const honoPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');
