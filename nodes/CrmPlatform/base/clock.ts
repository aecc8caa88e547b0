import { sleep } from 'n8n-workflow';

import { getOrCreate } from './maps';

export interface Clock {
	/** Unix epoch milliseconds. */
	now(): number;
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
	random(): number;
}

/** One shared reason for aborting a timer: by default, each abort creates an error with a stack. */
export const timerCanceled = new Error('The timer was canceled');

export const systemClock: Clock = { now: Date.now, sleep: abortableSleep, random: Math.random };

/** What a promise returns; undefined if that takes longer than so many milliseconds. */
export async function within<Value>(ms: number, promise: Promise<Value>, clock: Clock): Promise<Value | undefined> {
	const isOver = new AbortController();
	const timeout = clock.sleep(ms, isOver.signal).then(() => undefined, () => undefined);
	return await Promise.race([promise, timeout]).finally(() => isOver.abort(timerCanceled));
}

const steadyClocks = new WeakMap<Clock, Clock>();

/** A clock that goes on when this one is set back: otherwise, what is due would wait until it has caught up. */
export function steady(clock: Clock): Clock {
	return getOrCreate(steadyClocks, clock, () => {
		let latest = -Infinity;
		let behind = 0;
		const now = () => {
			behind = Math.max(behind, latest - clock.now());
			latest = clock.now() + behind;
			return latest;
		};
		return { ...clock, now };
	});
}

/** Up to n8n 2.30, the `sleep` of n8n-workflow ignores the signal and keeps waiting after an abort. */
async function abortableSleep(ms: number, signal?: AbortSignal): Promise<void> {
	if (!signal) return await sleep(ms);
	signal.throwIfAborted();
	await new Promise<void>((resolve, reject) => {
		const abort = () => reject(signal.reason as Error);
		signal.addEventListener('abort', abort, { once: true });
		sleep(ms, signal)
			.then(resolve, reject)
			.finally(() => signal.removeEventListener('abort', abort));
	});
}
