import { createMiddleware } from 'hono/factory';
import type { Env, Service } from '../http/service.ts';

/** A request as the log shows it to tests. */
export interface LoggedRequest {
	method: string;
	path: string;
	query: string;
	/** Null if the connection was dropped. */
	status: number | null;
	idempotencyKey: string | null;
	/** Scheme only. */
	authorization: string | null;
	/** When it came in. */
	time: string;
}

const longest = 10_000;

export class RequestLog {
	private entries: LoggedRequest[] = [];

	add(entry: LoggedRequest): void {
		this.entries.push(entry);
		// Shortened now and then, because taking out the first of many is slow.
		if (this.entries.length >= 2 * longest) this.entries = this.list();
	}

	/** The latest requests, oldest first. */
	list(): LoggedRequest[] {
		return this.entries.slice(-longest);
	}

	clear(): void {
		this.entries = [];
	}
}

export const logRequests = (service: Service, log: RequestLog) =>
	createMiddleware<Env>(async (c, next) => {
		const time = new Date(service.now()).toISOString();
		await next();
		if (c.req.path.startsWith('/_sandbox/')) return;
		log.add({
			method: c.req.method,
			path: c.req.path,
			query: new URL(c.req.url).search.slice(1),
			status: c.get('isDropped') ? null : c.res.status,
			idempotencyKey: c.req.header('Idempotency-Key') ?? null,
			authorization: c.req.header('Authorization')?.split(' ')[0] ?? null,
			time,
		});
	});
