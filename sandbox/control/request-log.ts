import { createMiddleware } from 'hono/factory';
import { idempotencyKeyHeader } from '../api/http/idempotency.ts';
import type { Env, Service } from '../core/service.ts';

export interface LoggedRequest {
	method: string;
	path: string;
	query: string;
	/** Null if the connection was dropped. */
	status: number | null;
	idempotencyKey: string | null;
	/** The scheme of the header only, never the credentials. */
	authorization: string | null;
	/** When it arrived. */
	time: string;
}

const maxLogLength = 10_000;

/** The latest requests, oldest first. */
export class RequestLog {
	entries: LoggedRequest[] = [];

	add(entry: LoggedRequest): void {
		this.entries.push(entry);
		if (this.entries.length > maxLogLength) this.entries.shift();
	}
}

export const logRequests = (service: Service, log: RequestLog) =>
	createMiddleware<Env>(async (c, next) => {
		const time = new Date(service.now()).toISOString();
		const { entries } = log;
		await next();
		// Requests that were under way when the log was cleared are not in it.
		if (c.req.path.startsWith('/_sandbox/') || entries !== log.entries) return;
		log.add({
			method: c.req.method,
			path: c.req.path,
			query: new URL(c.req.url).search.slice(1),
			status: c.get('isDropped') ? null : c.res.status,
			idempotencyKey: c.req.header(idempotencyKeyHeader) ?? null,
			authorization: c.req.header('Authorization')?.split(' ')[0] ?? null,
			time,
		});
	});
