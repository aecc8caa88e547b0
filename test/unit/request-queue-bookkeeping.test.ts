import { getEventListeners } from 'node:events';
import { SimulatedClock } from '../../bench/scale/clock.ts';
import type { Clock } from '../../nodes/CrmPlatform/base/clock';
import { RequestQueue } from '../../nodes/CrmPlatform/api/http/requestQueue';
import { never, requestAt, start, startAfter, withoutWindow } from './queued-requests.ts';

const minute = 60_000;

describe('requests are counted per execution', () => {
	test('until ten minutes after its last one, whatever other executions send', async () => {
		const { queue, send, pass } = start();
		const request = (execution: string) => void send(execution, () => withoutWindow(), { execution });
		const counts = () => ['long', 'short', 'third'].map((execution) => queue.sentCount(execution));
		request('long');
		await pass(1_000);
		request('short');
		await pass(9 * minute);
		request('long');
		await pass(minute - 1);
		request('third');
		await pass(0);
		expect(counts()).toEqual([2, 1, 1]);
		await pass(1);
		request('third');
		await pass(0);
		expect(counts()).toEqual([2, 0, 2]);
	});
});

describe('what a node reports about its wait', () => {
	test('is the time until the window opens', async () => {
		const { queue, pass } = await startAfter([0, 30]);
		expect(queue.expectedDelay(0)).toBeGreaterThan(29_000);
		expect(queue.expectedDelay(0)).toBeLessThanOrEqual(30_000);
		await pass(30_000);
		expect(queue.expectedDelay(0)).toBe(0);
	});

	test('is no time while the window is open, unless only the reserve is left', async () => {
		const { queue } = await startAfter([10, 30]);
		expect(queue.expectedDelay(0)).toBe(0);
		expect(queue.expectedDelay(1)).toBeGreaterThan(29_000);
	});

	test('counts the other workflows that wait', async () => {
		const { queue, send, withWindow } = await startAfter([0, 30]);
		for (const workflow of ['a', 'b', 'c', 'c']) void send(workflow, () => withWindow(9), { workflow });
		expect(['a', 'c', 'd'].map((workflow) => queue.countOtherWorkflows(workflow))).toEqual([2, 2, 3]);
	});
});

test('requests that wait for responses time out one after another, each ten seconds after its time', async () => {
	const { clock, send, sendMany, withWindow, pass } = await startAfter([1, 600]);
	sendMany(1, 'busy', never);
	await pass(100);
	const begun = clock.now();
	const ends: Array<[string, number]> = [];
	for (const [name, wait] of [['first', 20_000], ['second', 40_000], ['third', 45_000]] as const) {
		void send(name, () => withWindow(0), { timeoutAt: begun + wait }).then((outcome) => {
			ends.push([name, clock.now() - begun]);
			expect(outcome).toEqual({ retryAt: clock.now() });
		});
	}
	await pass(minute);
	expect(ends.map(([name, ms]) => [name, Math.round(ms / 1000)])).toEqual([['first', 30], ['second', 50], ['third', 55]]);
});

describe('a request that hangs', () => {
	test('lets others be sent faster, even if none waited before', async () => {
		const { events, send, sendMany, pass } = start();
		void send('hangs', never);
		await pass(3_500);
		sendMany(40, 'next', never);
		await pass(10);
		expect(events.length).toBeGreaterThan(20);
	});

	test('holds up nobody before requests wait for it, once a window is known', async () => {
		const { events, send, sendMany, withWindow, pass } = start();
		void send('hangs', never);
		void send('answered', () => withWindow(8, 600));
		await pass(3_500);
		sendMany(20, 'next', never);
		await pass(10);
		const sentAtOnce = events.length;
		await pass(5_000);
		expect(events.length).toBeGreaterThan(sentAtOnce);
		expect(sentAtOnce).toBeLessThan(8);
	});

	test('keeps its queue', async () => {
		const { queue, send, pass } = start();
		void send('hangs', never);
		await pass(minute);
		expect(queue.isIdle()).toBe(false);
	});
});

/** A queue whose timers are counted: those begun so far, and those under way. */
function startCounting() {
	const clock = new SimulatedClock();
	const timers = { begun: 0, underWay: 0 };
	const sleep: Clock['sleep'] = async (...wait) => {
		timers.begun += 1;
		timers.underWay += 1;
		await clock.sleep(...wait).finally(() => (timers.underWay -= 1));
	};
	return { clock, timers, queue: new RequestQueue({ now: clock.now, random: clock.random, sleep }) };
}

describe('a queue leaves nothing behind', () => {
	test('no timer, when its only waiting request is canceled', async () => {
		const { clock, timers, queue } = startCounting();
		void queue.enqueue(requestAt(clock), async () => ({ status: 429, headers: { 'retry-after': '50' }, text: '' }));
		await clock.advance(100);
		const cancel = new AbortController();
		const waiting = queue.enqueue(requestAt(clock, { signal: cancel.signal }), never).catch(() => 'canceled');
		await clock.advance(100);
		expect(timers.underWay).toBe(1);
		cancel.abort();
		expect(await waiting).toBe('canceled');
		await clock.advance(0);
		expect(timers.underWay).toBe(0);
	});

	test('no listener, however many requests an execution sends', async () => {
		const { send, pass } = start();
		const { signal } = new AbortController();
		for (let i = 0; i < 20; i += 1) void send(`${i}`, () => withoutWindow(), { signal });
		await pass(minute);
		expect(getEventListeners(signal, 'abort')).toEqual([]);
	});

	test('few timers: a slot that has expired and a timeout that nears do not wake it again and again', async () => {
		const { clock, timers, queue } = startCounting();
		const withWindow = { status: 200, headers: { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '3000' }, text: '' };
		void queue.enqueue(requestAt(clock), async () => withWindow);
		await clock.advance(100);
		void queue.enqueue(requestAt(clock, { totalTimeout: 5_000 }), never);
		void queue.enqueue(requestAt(clock, { totalTimeout: 3_600_000 }), never);
		void queue.enqueue(requestAt(clock, { timeoutAt: clock.now() + 30_000 }), never).catch(() => undefined);
		const { begun } = timers;
		await clock.advance(50_000);
		expect(timers.begun - begun).toBeLessThan(100);
	});
});
