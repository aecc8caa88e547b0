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

export class RequestLog {
	private entries: LoggedRequest[] = [];
	private clearings = 0;

	/** Call it when a request arrives. @returns a function that logs it with its response, unless the log was cleared */
	begin(): (entry: LoggedRequest) => void {
		const { clearings } = this;
		return (entry) => {
			if (clearings === this.clearings) this.add(entry);
		};
	}

	private add(entry: LoggedRequest): void {
		this.entries.push(entry);
		// Trimmed in batches, because removing the first element of a large array is slow.
		if (this.entries.length >= 2 * maxLogLength) this.entries = this.list();
	}

	/** The latest requests, oldest first. */
	list(): LoggedRequest[] {
		return this.entries.slice(-maxLogLength);
	}

	clear(): void {
		this.entries = [];
		this.clearings += 1;
	}
}

export const logRequests = (service: Service, log: RequestLog) =>
	createMiddleware<Env>(async (c, next) => {
		const time = new Date(service.now()).toISOString();
		const add = log.begin();
		await next();
		if (c.req.path.startsWith('/_sandbox/')) return;
		add({
			method: c.req.method,
			path: c.req.path,
			query: new URL(c.req.url).search.slice(1),
			status: c.get('isDropped') ? null : c.res.status,
			idempotencyKey: c.req.header(idempotencyKeyHeader) ?? null,
			authorization: c.req.header('Authorization')?.split(' ')[0] ?? null,
			time,
		});
	});
