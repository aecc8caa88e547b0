import { SimulatedClock } from '../../bench/scale/clock.ts';
import { queueFor, type QueuedRequest } from '../../nodes/CrmPlatform/api/http/requestQueue';
import { hour, never, requestAt, start, startAfter, totalTimeout, withoutWindow, type Respond } from './queued-requests.ts';

describe('while the window is unknown', () => {
	test('four requests are sent, and the others after their responses', async () => {
		const { events, sendMany, withWindow, pass } = start();
		sendMany(10, 'next', () => withWindow(1000));
		await pass(50);
		expect(events).toHaveLength(4);
		await pass(100);
		expect(events).toHaveLength(10);
	});

	test('more and more requests are sent while a service hangs, so that none waits for long', async () => {
		const { events, sendMany, pass } = start();
		sendMany(40, 'next', never);
		await pass(3_500);
		expect(events.map((event) => event.split(' at ')[1])).toEqual([
			...Array(4).fill('0'),
			...Array(4).fill('1'),
			...Array(8).fill('2'),
			...Array(16).fill('3'),
		]);
	});

	test('four requests are sent again after an idle time, even if the last response reported no window', async () => {
		const { events, send, sendMany, pass } = start();
		void send('unavailable', () => withoutWindow(503));
		await pass(hour);
		sendMany(10, 'next', () => withoutWindow(503));
		await pass(50);
		expect(events).toHaveLength(1 + 4);
	});

	test('no request waits for a service that reports no window, until it refuses a request', async () => {
		const { events, send, sendMany, pass } = start();
		void send('first', () => withoutWindow());
		await pass(200);
		sendMany(50, 'next', () => withoutWindow());
		void send('refused', () => withoutWindow(429, { 'retry-after': '7' }), {}, 50);
		await pass(70);
		expect(events).toHaveLength(52);
		sendMany(3, 'later', () => withoutWindow());
		await pass(6_900);
		expect(events).toHaveLength(52);
		await pass(100);
		expect(events.slice(52)).toEqual(['later 0 at 7']);
		await pass(100);
		expect(events).toHaveLength(55);
	});

	test('a refusal that names an hour delays the others by a minute', async () => {
		const { events, send, pass } = start();
		void send('refused', () => withoutWindow(429, { 'retry-after': '3600' }));
		await pass(200);
		void send('later', () => withoutWindow());
		await pass(hour);
		expect(events).toEqual(['refused at 0', 'later at 60']);
	});

	test('a response without a window changes nothing once another has reported one', async () => {
		const { events, sendMany, pass } = await startAfter([0, 5]);
		sendMany(9, 'next', () => withoutWindow(), {}, 200);
		await pass(4_900);
		// After an exhausted window, one request at a time.
		expect(events.slice(1)).toEqual(['next 0 at 5']);
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
		const { clock, events, send, withWindow, pass } = await startAfter([0, 90]);
		const timeoutAt = clock.now() + 30_000;
		const late = send('late', () => withWindow(100), { timeoutAt });
		await pass(10);
		expect(await late).toEqual({ retryAt: expect.closeTo(clock.now() + 89_890, -2) });
		expect(events).toEqual(['first at 0']);
	});

	test('a request that leaves the rest of the plan to others fails immediately if it would wait too long', async () => {
		const { clock, events, send, withWindow, pass } = await startAfter([10, 90]);
		const late = send('late', () => withWindow(100), { timeoutAt: clock.now() + 30_000, reserve: 1 });
		await pass(10);
		expect(await late).toEqual({ retryAt: expect.closeTo(clock.now() + 89_890, -2) });
		expect(events).toEqual(['first at 0']);
	});

	test('waiting requests fail when a response shows that the wait is too long', async () => {
		const { clock, send, sendMany, withWindow, pass } = start();
		sendMany(4, 'next', () => withWindow(0, 90));
		const late = send('late', () => withWindow(100), { timeoutAt: clock.now() + 30_000 });
		await pass(200);
		expect(await late).toMatchObject({ retryAt: expect.any(Number) });
	});
});

describe('a slot is released', () => {
	/** A request takes the only slot, and another one waits for it. */
	async function startWithBusySlot(respond: Respond, more?: Partial<QueuedRequest>) {
		const all = await startAfter([1, 600]);
		void all.send('busy', respond, more);
		await all.pass(200);
		void all.send('next', () => all.withWindow(0));
		await all.pass(10);
		return all;
	}

	test.each<[string, Respond]>([
		['throws', async () => await Promise.reject(new Error('odd'))],
		['loses its connection', () => ({ connectionError: 'ECONNRESET' }) as never],
	])('when its request %s', async (_, respond) => {
		const { events } = await startWithBusySlot(respond);
		expect(events.at(-1)).toBe('next at 0');
	});

	test('when its execution is canceled, even if the request continues', async () => {
		const cancel = new AbortController();
		const { events, pass } = await startWithBusySlot(never, { signal: cancel.signal });
		expect(events).not.toContain('next at 0');
		cancel.abort();
		await pass(10);
		expect(events.at(-1)).toBe('next at 0');
	});

	test('at its total timeout, whatever happened to it', async () => {
		const { events, pass } = await startWithBusySlot(never);
		await pass(totalTimeout - 1_000);
		expect(events).not.toContainEqual(expect.stringMatching(/^next/));
		await pass(1_000);
		expect(events.at(-1)).toBe('next at 300');
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
	expect(queueFor('address, new key', clock)).not.toBe(queue);
	// It still knows that the plan is used up.
	expect(queueFor('address, old key', clock)).toBe(queue);
	await clock.advance(2_000);
	queueFor('address, third key', clock);
	expect(queueFor('address, old key', clock)).not.toBe(queue);
});
