import { getEventListeners } from 'node:events';

import { SimulatedClock } from '../../bench/scale/clock.ts';
import { FairQueue, queueFor, RequestQueue, type Priority, type QueuedRequest } from '../../nodes/CrmPlatform/api/http/requestQueue';
import type { Clock } from '../../nodes/CrmPlatform/base/clock';
import { hour, never, requestAt, start, startAfter, withoutWindow } from './queued-requests.ts';

const minute = 60_000;

describe('while the window is unknown', () => {
	test('while a service hangs, four more are sent each second', async () => {
		const { events, sendMany, pass } = start();
		sendMany(40, 'next', never);
		await pass(2_500);
		expect(events.map((event) => event.split(' at ')[1])).toEqual(['0', '1', '2'].flatMap((second) => Array<string>(4).fill(second)));
	});

	test('after a refusal, one request is sent first', async () => {
		const { events, send, sendMany, pass } = start();
		void send('refused', () => withoutWindow(429, { 'retry-after': '7' }), {}, 50);
		await pass(70);
		sendMany(3, 'later', () => withoutWindow());
		await pass(6_900);
		expect(events).toEqual(['refused at 0']);
		await pass(100);
		expect(events.slice(1)).toEqual(['later 0 at 7']);
		await pass(100);
		expect(events).toHaveLength(4);
	});
});

describe('when the plan is used up', () => {
	test('all requests wait for the next window, which begins with one request', async () => {
		const { events, sendMany, withWindow, pass } = await startAfter([0, 30]);
		sendMany(5, 'next', () => withWindow(100));
		await pass(29_800);
		expect(events).toEqual(['first at 0']);
		await pass(150);
		expect(events).toEqual(['first at 0', 'next 0 at 30']);
		await pass(500);
		expect(events).toHaveLength(6);
	});

	test('a request that would wait too long fails immediately, with the time to retry', async () => {
		const { clock, events, send, withWindow, pass } = await startAfter([0, 50]);
		const timeoutAt = clock.now() + 30_000;
		const late = send('late', () => withWindow(100), { timeoutAt });
		void send('in time', () => withWindow(100), { timeoutAt: clock.now() + 49_900 });
		await pass(10);
		expect(await late).toEqual({ retryAt: expect.closeTo(clock.now() + 49_890, -2) });
		await pass(minute * 2);
		expect(events).toEqual(['first at 0', 'in time at 50']);
	});
});

test('a request that is canceled in the queue leaves it immediately and is not sent', async () => {
	const { queue, events, send, withWindow, pass } = await startAfter([0, 30]);
	const cancel = new AbortController();
	const canceled = send('canceled', () => withWindow(100), { signal: cancel.signal });
	await pass(1_000);
	cancel.abort(new Error('stop'));
	expect(await canceled).toEqual(new Error('stop'));
	await pass(60_000);
	expect(events).toEqual(['first at 0']);
	expect(queue.isIdle()).toBe(true);
	expect(await send('later', () => withWindow(1), { signal: cancel.signal })).toEqual(new Error('stop'));
});

test('an idle queue is dropped, and another credential has another queue', async () => {
	const { clock, withWindow } = start();
	const queue = queueFor('address, old key', clock);
	expect(queueFor('address, old key', clock)).toBe(queue);
	expect(queueFor('address, old key', new SimulatedClock())).not.toBe(queue);
	await Promise.all([queue.enqueue(requestAt(clock), async () => withWindow(0)), clock.advance(59_000)]);
	const busy = queueFor('address, new key', clock);
	expect(busy).not.toBe(queue);
	void busy.enqueue(requestAt(clock), never);
	// It still knows that the plan is used up.
	expect(queueFor('address, old key', clock)).toBe(queue);
	await clock.advance(2_000);
	queueFor('address, third key', clock);
	expect(queueFor('address, old key', clock)).not.toBe(queue);
	expect(queueFor('address, new key', clock)).toBe(busy);
});

describe('a window that the CRM has reported wrongly', () => {
	test('is checked by one request a minute while it is exhausted, and delays no request for longer', async () => {
		const { clock, events, sendMany, withWindow, pass } = await startAfter([-1, 3_600_000]);
		sendMany(10, 'next', () => withWindow(900), { timeoutAt: clock.now() + 2_000 * hour });
		await pass(50_000);
		expect(events).toHaveLength(1);
		await pass(11_000);
		expect(events).toHaveLength(11);
		expect(events[1]).toBe('next 0 at 60');
	});

	test('is kept when the response to an earlier request reports another one', async () => {
		const { events, send, withWindow, pass } = start();
		void send('early', () => withWindow(900, 60), {}, 300);
		await Promise.all([send('late', () => withWindow(-1, 3_600)), pass(400)]);
		void send('next', () => withWindow(900, 60));
		await pass(1_000);
		expect(events).toHaveLength(2);
	});

	test('expires even if the clock of this machine is set back', async () => {
		const { clock, events, send, withWindow, pass } = start();
		let back = 0;
		const { now } = clock;
		Object.assign(clock, { now: () => now() - back });
		await Promise.all([send('first', () => withWindow(-1, 60)), pass(200)]);
		back = 20 * hour;
		void send('second', () => withWindow(900), { timeoutAt: Infinity });
		await pass(61_000);
		expect(events).toEqual(['first at 0', expect.stringMatching(/^second/)]);
	});
});

const times = (events: string[], name: string) =>
	events.filter((event) => event.startsWith(name)).map((event) => Number(event.split(' at ')[1]));

test('four requests that hang delay nothing for longer than a second, in this window and in the next ones', async () => {
	const { events, send, sendMany, withWindow, pass } = start();
	sendMany(4, 'hangs', never, { workflow: 'b' });
	let left = 20;
	const small = () => void send('small', () => withWindow((left -= 1), 10), {}, 50);
	for (let i = 0; i < 12; i += 1) small();
	await pass(3_000);
	expect(Math.max(...times(events, 'small'))).toBe(1);
	for (const window of [12, 24]) {
		await pass(9_000);
		left = 20;
		for (let i = 0; i < 12; i += 1) small();
		await pass(3_000);
		expect(Math.max(...times(events, 'small'))).toBe(window);
		expect(times(events, 'small')).toHaveLength(window + 12);
	}
});

test('slow requests make room for others each second, but never for more than the remainder', async () => {
	const { events, sendMany, pass } = await startAfter([5, 600]);
	sendMany(80, 'slow', never);
	await pass(50);
	const counts = [];
	for (let second = 0; second < 7; second += 1) {
		counts.push(times(events, 'slow').length);
		await pass(1_000);
	}
	expect(counts).toEqual([1, 2, 3, 4, 5, 5, 5]);
});

test('requests that wait for responses time out one after another, each ten seconds after its time', async () => {
	const { clock, send, sendMany, withWindow, pass } = await startAfter([1, 600]);
	sendMany(1, 'busy', never);
	await pass(2_000);
	const begun = clock.now();
	const ends: Array<[string, number]> = [];
	for (const [name, wait] of [['third', 45_000], ['first', 20_000], ['second', 40_000]] as const) {
		void send(name, () => withWindow(0), { timeoutAt: begun + wait }).then((outcome) => {
			ends.push([name, clock.now() - begun]);
			expect(outcome).toEqual({ retryAt: clock.now() });
		});
	}
	await pass(minute);
	expect(ends.map(([name, ms]) => [name, Math.round(ms / 1000)])).toEqual([['first', 30], ['second', 50], ['third', 55]]);
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
	test('no execution, ten minutes after its last request', async () => {
		const { queue, send, pass } = start();
		for (const execution of ['long', 'old']) void send('', () => withoutWindow(), { execution });
		await pass(minute);
		void send('', () => withoutWindow(), { execution: 'long' });
		await pass(9 * minute);
		void send('', () => withoutWindow(), { execution: 'new' });
		await pass(0);
		expect(['old', 'long', 'new'].map((execution) => queue.sentCount(execution))).toEqual([0, 2, 1]);
	});

	test('no timer that wakes it in vain, while requests hang', async () => {
		const { clock, timers, queue } = startCounting();
		for (let i = 0; i < 10; i += 1) void queue.enqueue(requestAt(clock), never);
		await clock.advance(minute);
		expect(timers).toEqual({ begun: 2, underWay: 0 });
	});

	test('no timer, when its only waiting request is canceled', async () => {
		const { clock, timers, queue } = startCounting();
		void queue.enqueue(requestAt(clock), async () => ({ status: 429, headers: { 'retry-after': '50' }, text: '' }));
		await clock.advance(100);
		const cancel = new AbortController();
		const request = requestAt(clock, { signal: cancel.signal, timeoutAt: clock.now() + 55_000 });
		const waiting = queue.enqueue(request, never).catch(() => 'canceled');
		await clock.advance(48_000);
		expect(timers).toEqual({ begun: 1, underWay: 1 });
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
});

type Named = Pick<QueuedRequest, 'priority' | 'workflow' | 'wasDeferred'> & { name: string };

const entry = (name: string, workflow = 'a', priority: Priority = 'ordinary', wasDeferred = false): Named => ({
	name, workflow, priority, wasDeferred,
});

function order(entries: Named[]): string[] {
	const queue = new FairQueue<Named>();
	entries.forEach((item) => queue.add(item));
	const names: string[] = [];
	for (let next = queue.take(); next; next = queue.take()) names.push(next.name);
	return names;
}

test('a workflow with many requests does not delay a workflow with few', () => {
	const many = Array.from({ length: 6 }, (_, i) => entry(`a${i}`, 'a'));
	expect(order([...many, entry('b0', 'b'), entry('b1', 'b'), entry('c0', 'c')])).toEqual([
		'a0', 'b0', 'c0', 'a1', 'b1', 'a2', 'a3', 'a4', 'a5',
	]);
});

test('awaited requests are sent before ordinary ones, and those before bulk', () => {
	expect(order([entry('bulk', 'a', 'bulk'), entry('ordinary'), entry('form', 'b', 'awaited')])).toEqual(['form', 'ordinary', 'bulk']);
});

test('one in ten turns goes to a lower priority, alternating between the two that have requests, so that neither starves', () => {
	const [forms, bulk] = (['awaited', 'bulk'] as const).map((priority) =>
		Array.from({ length: 40 }, (_, i) => entry(`${priority} ${i}`, 'a', priority)),
	);
	const names = order([...forms!, ...bulk!, entry('ordinary', 'b')]);
	expect(['bulk 0', 'ordinary', 'bulk 1', 'bulk 2'].map((name) => names.indexOf(name))).toEqual([9, 19, 29, 39]);
});

test('a request that was refused is sent before others of its workflow', () => {
	expect(order([entry('1'), entry('2'), entry('refused', 'a', 'ordinary', true), entry('other', 'b')])).toEqual([
		'refused', 'other', '1', '2',
	]);
});
