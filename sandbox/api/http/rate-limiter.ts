import { createHash } from 'node:crypto';

const windowMs = 60_000;

/** They take about 15 MB. With more callers per minute, the windows that were idle longest start over. */
const maxWindows = 100_000;

/**
 * Counts requests in fixed windows of a minute, each beginning with its first request. Callers choose
 * their names, so a name is stored as a hash, and only as long as its window.
 */
export class RateLimiter {
	private readonly limit: number;
	/** The windows by hash; the least recently used one is first. */
	private readonly windows = new Map<string, { endsAt: number; used: number }>();

	constructor(requestsPerMinute: number) {
		this.limit = requestsPerMinute;
	}

	/** The number of windows in memory. */
	get size(): number {
		return this.windows.size;
	}

	/** Counts one request; false if it exceeds the limit. */
	count(caller: string, now: number): boolean {
		const key = keyOf(caller);
		const storedWindow = this.windows.get(key);
		const isOpen = storedWindow !== undefined && now < storedWindow.endsAt;
		const window = isOpen ? storedWindow : { endsAt: now + windowMs, used: 0 };
		window.used += 1;
		this.windows.delete(key);
		this.windows.set(key, window);
		this.forget(now);
		return window.used <= this.limit;
	}

	/** @returns requests left, and the end of the window in milliseconds since 1970 */
	state(caller: string, now: number): { remaining: number; endsAt: number } {
		const window = this.windows.get(keyOf(caller));
		if (!window || now >= window.endsAt) return { remaining: this.limit, endsAt: now + windowMs };
		return { remaining: Math.max(0, this.limit - window.used), endsAt: window.endsAt };
	}

	/** Removes ended windows from the front: a window that was not used for a minute has ended. */
	private forget(now: number): void {
		for (const [key, { endsAt }] of this.windows) {
			if (now < endsAt && this.windows.size <= maxWindows) return;
			this.windows.delete(key);
		}
	}
}

const keyOf = (caller: string): string => createHash('sha256').update(caller).digest('base64');
