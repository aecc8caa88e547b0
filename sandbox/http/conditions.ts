import { invalidParameter } from '../foundation/problem.ts';
import { safeMethods } from './idempotency.ts';
import type { ApiRoute } from './route.ts';

/** The conditions of a write (RFC 9110, 13.1). */
const conditions = ['If-Match', 'If-None-Match', 'If-Unmodified-Since'];

/**
 * Refuses a condition that the operation does not describe: if it were ignored, a write would overwrite
 * what the caller wants to keep.
 */
export function refusingConditions(route: ApiRoute): ApiRoute {
	if (safeMethods.includes(route.method)) return route;
	let described: string[] | undefined;
	return {
		...route,
		handler(c) {
			const given = conditions.filter((name) => c.req.header(name) !== undefined);
			if (given.length > 0) described ??= route.operation().parameters.map(({ name }) => name);
			const other = given.find((name) => !described!.includes(name));
			if (other === undefined) return route.handler(c);
			const detail = `${other} is not taken here, and nothing was written. Send the request without it.`;
			throw invalidParameter(other, detail);
		},
	};
}
