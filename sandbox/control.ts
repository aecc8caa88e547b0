import { fieldErrors } from './collection/explain.ts';
import { type Faults, faultsSchema } from './faults.ts';
import { parseJson, readBytes } from './middleware/body.ts';
import type { RequestLog } from './middleware/request-log.ts';
import { Problem } from './problem.ts';
import type { Route } from './router.ts';

/** What a test steers the sandbox with. It needs no credentials and uses up no rate limit. */
export function controlRoutes(faults: Faults, log: RequestLog): Route[] {
	return [
		{ method: 'GET', path: '/_sandbox/faults', handler: (c) => c.json(faults.list()) },
		{
			method: 'PUT',
			path: '/_sandbox/faults',
			async handler(c) {
				const asked = parseJson(await readBytes(c));
				const parsed = faultsSchema.safeParse(asked);
				if (!parsed.success) {
					const errors = fieldErrors(parsed.error, asked);
					throw new Problem('validation_failed', 'The faults cannot be read.', { errors });
				}
				faults.replace(parsed.data);
				return c.json(faults.list());
			},
		},
		{
			method: 'DELETE',
			path: '/_sandbox/faults',
			handler(c) {
				faults.replace([]);
				return c.body(null, 204);
			},
		},
		{ method: 'GET', path: '/_sandbox/requests', handler: (c) => c.json(log.list()) },
		{
			method: 'DELETE',
			path: '/_sandbox/requests',
			handler(c) {
				log.clear();
				return c.body(null, 204);
			},
		},
	];
}
