import { SimulatedClock } from '../../bench/scale/clock.ts';
import type { SimulatedResponse } from '../../bench/scale/service.ts';
import { createSender } from '../../nodes/CrmPlatform/api/http/request';
import { RequestQueue, type QueuedRequest, type QueueOptions } from '../../nodes/CrmPlatform/api/http/requestQueue';
import type { Transport } from '../../nodes/CrmPlatform/api/http/transport';

export const hour = 3_600_000;
export const totalTimeout = 300_000;

export const requestAt = (clock: SimulatedClock, more: Partial<QueuedRequest> = {}): QueuedRequest => ({
	priority: 'ordinary',
	workflow: 'a',
	timeoutAt: clock.now() + hour,
	wasDeferred: false,
	reserve: 0,
	...more,
});

export const withoutWindow = (status = 200, headers = {}): SimulatedResponse => ({ status, headers, text: '' });

type Respond = () => SimulatedResponse | Promise<SimulatedResponse>;

export function start() {
	const clock = new SimulatedClock();
	const queue = new RequestQueue(clock);
	const begun = clock.now();
	const events: string[] = [];
	/** Sends a request that is answered after some milliseconds, and notes when; resolves with its response or error. */
	const send = (name: string, respond: Respond, more: Partial<QueuedRequest> = {}, ms = 100) => {
		const ended = queue.enqueue(requestAt(clock, more), async () => {
			events.push(`${name} at ${Math.floor((clock.now() - begun) / 1000)}`);
			await clock.sleep(ms);
			return await respond();
		});
		return ended.catch((error: Error) => error);
	};
	const sendMany = (count: number, name: string, ...how: [Respond, Partial<QueuedRequest>?, number?]) => {
		for (let i = 0; i < count; i += 1) void send(`${name} ${i}`, ...how);
	};
	/** A response that reports how many requests remain (-1: none, and it is a 429), and in how many seconds the window ends. */
	const withWindow = (remaining: number, seconds = 60): SimulatedResponse => ({
		status: remaining < 0 ? 429 : 200,
		headers: {
			'x-ratelimit-remaining': `${Math.max(0, remaining)}`, 'x-ratelimit-reset': `${seconds}`, date: new Date(clock.now()).toUTCString(),
		},
		text: '',
	});
	const pass = async (ms: number) => await clock.advance(ms);
	return { clock, queue, events, send, sendMany, withWindow, pass };
}

/** A queue that has sent a first request, whose response reported this window. */
export async function startAfter(window: [remaining: number, seconds?: number], more?: Partial<QueuedRequest>) {
	const all = start();
	await Promise.all([all.send('first', () => all.withWindow(...window), more), all.pass(200)]);
	return all;
}

/** The sender of an execution; give each test its own `queueName`. */
export function senderWith(clock: SimulatedClock, transport: Transport, options: Pick<QueueOptions, 'queueName'> & Partial<QueueOptions>) {
	const { priority = 'ordinary' } = options;
	const queueOptions = { workflow: 'a', priority, laterPriority: priority, reserve: 0, ...options };
	return createSender({ transport, address: 'https://api.example.com', clock, queueOptions });
}

/** Never settles. */
export const never = async () => await new Promise<never>(() => {});
