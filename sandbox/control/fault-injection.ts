import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Fault, Faults } from './faults.ts';
import { Problem, type ProblemCode, problems } from '../core/foundation/problem.ts';
import type { Env } from '../core/service.ts';

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
