import { SimulatedClock } from '../../bench/scale/clock.ts';
import type { Answer } from '../../bench/scale/service.ts';
import { RequestQueue, type Turn } from '../../nodes/CrmPlatform/api/http/requestQueue';

export const hour = 3_600_000;
export const deadline = 300_000;

export const turnAt = (clock: SimulatedClock, more: Partial<Turn> = {}): Turn => ({
	rank: 'ordinary',
	workflow: 'a',
	until: clock.now() + hour,
	deadline,
	isRepeated: false,
	forOthers: 0,
	...more,
});

export const told = (clock: SimulatedClock, remaining: number, seconds = 60): Answer => ({
	status: remaining < 0 ? 429 : 200,
	headers: { 'x-ratelimit-remaining': `${Math.max(0, remaining)}`, 'x-ratelimit-reset': `${seconds}`, date: new Date(clock.now()).toUTCString() },
	text: '',
});
export const untold = (status = 200, headers = {}): Answer => ({ status, headers, text: '' });

export function start() {
	const clock = new SimulatedClock();
	const queue = new RequestQueue(clock);
	const begun = clock.now();
	const events: string[] = [];
	const seconds = () => Math.floor((clock.now() - begun) / 1000);
	/** Sends a request that is answered after some milliseconds, and notes when it is sent and what becomes of it. */
	const send = (name: string, answer: () => Answer | Promise<Answer>, more: Partial<Turn> = {}, ms = 100) => {
		const ended = queue.inTurn(turnAt(clock, more), async () => {
			events.push(`${name} at ${seconds()}`);
			await clock.sleep(ms);
			return await answer();
		});
		return ended.catch((error: Error) => error);
	};
	const pass = async (ms: number) => await clock.runUntil(clock.now() + ms);
	return { clock, queue, events, send, pass };
}

/** Never settles. */
export const never = async () => await new Promise<never>(() => {});
