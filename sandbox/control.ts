import type { Faults } from './faults.ts';
import { faultsSchema } from './faults.ts';
import type { RequestLog } from './middleware/request-log.ts';
import { readBytes } from './middleware/body.ts';
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
				const parsed = faultsSchema.safeParse(parseJson(await readBytes(c)));
				if (!parsed.success) {
					const errors = parsed.error.issues.map(({ path, message }) => ({
						pointer: path.map((part) => `/${String(part)}`).join(''),
						code: 'invalid_value',
						detail: message,
					}));
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

const parseJson = (bytes: Uint8Array): unknown => {
	try {
		return JSON.parse(new TextDecoder().decode(bytes));
	} catch {
		throw new Problem('malformed_json', 'The body is not valid JSON.');
	}
};
