import { z } from 'zod/v4';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { Problem, type ProblemCode, problems } from '../core/foundation/problem.ts';
import type { Env } from '../core/service.ts';

const faultSchema = z.strictObject({
	/** Matches this path and everything below it; absent matches every path. */
	path: z.string().startsWith('/').optional(),
	method: z.string().toUpperCase().optional(),
	/** How many requests fail; absent means all. */
	times: z.int().min(1).optional(),
	/** How many matching requests are unaffected first. */
	after: z.int().min(0).default(0),
	/** Responds with this status instead of doing anything. */
	status: z.int().min(200).max(599).optional(),
	headers: z.record(z.string(), z.string()).optional(),
	body: z.json().optional(),
	contentType: z.string().optional(),
	/** Waits first. */
	latencyMs: z.int().min(0).max(600_000).optional(),
	/** Drops the connection, before or after the request has its effect. */
	drop: z.enum(['before', 'after']).optional(),
	/** Responds with 200 and broken JSON instead of doing anything. */
	malformed: z.literal(true).optional(),
});

export const faultsSchema = z.array(faultSchema).max(100);

export type Fault = z.output<typeof faultSchema>;

/** The planned faults, and how many requests each one has affected. */
export class Faults {
	private planned: Array<{ fault: Fault; seen: number; hits: number }> = [];

	replace(faults: Fault[]): void {
		this.planned = faults.map((fault) => ({ fault, seen: 0, hits: 0 }));
	}

	list(): Array<Fault & { hits: number }> {
		return this.planned.map(({ fault, hits }) => ({ ...fault, hits }));
	}

	/** Picks the fault for a request: the first one that matches and is not used up. */
	strike(method: string, path: string): Fault | undefined {
		for (const plan of this.planned) {
			const { fault } = plan;
			if (fault.method !== undefined && fault.method !== method) continue;
			if (fault.path !== undefined && !isAtOrBelow(fault.path, path)) continue;
			plan.seen += 1;
			if (plan.seen <= fault.after || plan.hits >= (fault.times ?? Infinity)) continue;
			plan.hits += 1;
			return fault;
		}
		return undefined;
	}
}

function isAtOrBelow(path: string, requested: string): boolean {
	return requested === path || requested.startsWith(path.endsWith('/') ? path : `${path}/`);
}

/** Injects the planned faults. Affected requests count against the rate limit like any other. */
export const injectFaults = (faults: Faults) =>
	createMiddleware<Env>(async (c, next) => {
		const isControl = c.req.path.startsWith('/_sandbox/');
		const fault = isControl ? undefined : faults.strike(c.req.method, c.req.path);
		if (!fault) return next();
		// The timer does not keep the process alive, so it does not delay shutdown.
		if (fault.latencyMs) await sleep(fault.latencyMs, undefined, { ref: false });
		if (fault.drop === 'before') return drop(c);
		if (fault.malformed) {
			return new Response('{"data":[{"id":', { headers: { 'Content-Type': 'application/json' } });
		}
		if (fault.status !== undefined) {
			// A proxy that is still sending the body would treat the early end of the connection as a failure.
			await c.req.arrayBuffer();
			return failure(fault, fault.status, c.get('requestId'));
		}
		await next();
		if (fault.drop === 'after') c.res = drop(c);
		return undefined;
	});

function failure(fault: Fault, status: number, requestId: string): Response {
	const headers = new Headers(fault.headers);
	if (fault.body === undefined) {
		const problemEntry = Object.entries(problems).find(([, [ofCode]]) => ofCode === status);
		if (!problemEntry) return new Response(null, { status, headers });
		const problem = new Problem(problemEntry[0] as ProblemCode, 'This fault was injected.', {
			headers: Object.fromEntries(headers),
		});
		return problem.response(requestId);
	}
	const isText = typeof fault.body === 'string';
	headers.set('Content-Type', fault.contentType ?? (isText ? 'text/plain' : 'application/json'));
	const body = isText ? String(fault.body) : JSON.stringify(fault.body);
	return new Response(body, { status, headers });
}

/** Without a connection, in process, the caller gets an error response instead. */
function drop(c: Context<Env>): Response {
	c.set('isDropped', true);
	c.env?.incoming?.socket.destroy();
	return new Response(null, { status: 503 });
}
