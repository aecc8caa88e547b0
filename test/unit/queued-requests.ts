import { SimulatedClock } from '../../bench/scale/clock.ts';
import type { SimulatedAnswer } from '../../bench/scale/service.ts';
import { RequestQueue, type QueuedRequest } from '../../nodes/CrmPlatform/api/http/requestQueue';

export const hour = 3_600_000;
export const totalTimeout = 300_000;

export const requestAt = (clock: SimulatedClock, more: Partial<QueuedRequest> = {}): QueuedRequest => ({
	priority: 'ordinary',
	workflow: 'a',
	timeoutAt: clock.now() + hour,
	totalTimeout,
	isRetry: false,
	reserve: 0,
	...more,
});

export const withWindow = (clock: SimulatedClock, remaining: number, seconds = 60): SimulatedAnswer => ({
	status: remaining < 0 ? 429 : 200,
	headers: { 'x-ratelimit-remaining': `${Math.max(0, remaining)}`, 'x-ratelimit-reset': `${seconds}`, date: new Date(clock.now()).toUTCString() },
	text: '',
});
export const withoutWindow = (status = 200, headers = {}): SimulatedAnswer => ({ status, headers, text: '' });

export function start() {
	const clock = new SimulatedClock();
	const queue = new RequestQueue(clock);
	const begun = clock.now();
	const events: string[] = [];
	const seconds = () => Math.floor((clock.now() - begun) / 1000);
	/** Sends a request that is answered after some milliseconds, and notes when it is sent and what becomes of it. */
	const send = (name: string, answer: () => SimulatedAnswer | Promise<SimulatedAnswer>, more: Partial<QueuedRequest> = {}, ms = 100) => {
		const ended = queue.enqueue(requestAt(clock, more), async () => {
			events.push(`${name} at ${seconds()}`);
			await clock.sleep(ms);
			return await answer();
		});
		return ended.catch((error: Error) => error);
	};
	const pass = async (ms: number) => await clock.advance(ms);
	return { clock, queue, events, send, pass };
}

/** Never settles. */
export const never = async () => await new Promise<never>(() => {});
