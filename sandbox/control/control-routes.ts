import type { Context } from 'hono';
import { z } from 'zod/v4';
import type { Clock } from '../core/foundation/clock.ts';
import { parseInput } from '../core/foundation/field-errors.ts';
import { type Faults, faultsSchema } from './faults.ts';
import { parseJson, readBytes } from '../api/http/body.ts';
import type { RequestLog } from './request-log.ts';
import type { Route } from '../api/http/route.ts';

const advanceSchema = z.strictObject({ advance: z.number().min(0).max(1_000_000_000) });

/** Endpoints for tests: faults, clock, request log. They need no credentials and have no rate limit. */
export function controlRoutes(faults: Faults, log: RequestLog, clock: Clock): Route[] {
	const time = () => ({ now: new Date(clock.now()).toISOString() });
	return [
		{ method: 'GET', path: '/_sandbox/faults', handler: (c) => c.json(faults.list()) },
		{
			method: 'PUT',
			path: '/_sandbox/faults',
			async handler(c) {
				faults.replace(await parseBody(c, faultsSchema, 'The faults are not valid.'));
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
		{ method: 'GET', path: '/_sandbox/clock', handler: (c) => c.json(time()) },
		{
			method: 'POST',
			path: '/_sandbox/clock',
			async handler(c) {
				const detail = 'Give the number of seconds to advance the clock by: {"advance": 60}.';
				const { advance } = await parseBody(c, advanceSchema, detail);
				clock.advance(advance * 1000);
				return c.json(time());
			},
		},
		{ method: 'GET', path: '/_sandbox/requests', handler: (c) => c.json(log.entries) },
		{
			method: 'DELETE',
			path: '/_sandbox/requests',
			handler(c) {
				log.entries = [];
				return c.body(null, 204);
			},
		},
	];
}

/** @throws Problem validation_failed with `detail` */
const parseBody = async <T>(c: Context, schema: z.ZodType<T>, detail: string): Promise<T> =>
	parseInput(schema, parseJson(await readBytes(c)), detail);
