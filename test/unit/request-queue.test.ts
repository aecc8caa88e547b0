import { SimulatedClock } from '../../bench/scale/clock.ts';
import { queueOf } from '../../nodes/CrmPlatform/api/http/requestQueue';
import { deadline, hour, never, start, told, turnAt, untold } from './queued-requests.ts';

describe('of requests that know nothing of the plan', () => {
	test('four ask, and the others follow their answer', async () => {
		const { clock, events, send, pass } = start();
		for (let i = 0; i < 10; i += 1) void send(`${i}`, () => told(clock, 1000));
		await pass(50);
		expect(events).toHaveLength(4);
		await pass(100);
		expect(events).toHaveLength(10);
	});

	test('more and more ask while a service hangs, so that it holds up nobody for long', async () => {
		const { events, send, pass } = start();
		for (let i = 0; i < 40; i += 1) void send(`${i}`, never);
		await pass(3_500);
		expect(events.map((event) => event.split(' at ')[1])).toEqual([...Array(4).fill('0'), ...Array(4).fill('1'), ...Array(8).fill('2'), ...Array(16).fill('3')]);
	});

	test('four ask again after a rest, though the last answer said nothing', async () => {
		const { events, send, pass } = start();
		void send('unavailable', () => untold(503));
		await pass(hour);
		for (let i = 0; i < 10; i += 1) void send(`${i}`, () => untold(503));
		await pass(50);
		expect(events).toHaveLength(1 + 4);
	});

	test('nobody waits for a service that tells no window, until it refuses one', async () => {
		const { events, send, pass } = start();
		void send('first', () => untold());
		await pass(200);
		for (let i = 0; i < 50; i += 1) void send(`${i}`, () => untold());
		void send('refused', () => untold(429, { 'retry-after': '7' }), {}, 50);
		await pass(70);
		expect(events).toHaveLength(52);
		for (let i = 0; i < 3; i += 1) void send('later', () => untold());
		await pass(6_900);
		expect(events).toHaveLength(52);
		await pass(100);
		expect(events.slice(52)).toEqual(['later at 7']);
		await pass(100);
		expect(events).toHaveLength(55);
	});

	test('a refusal that names an hour holds up the others for a minute', async () => {
		const { events, send, pass } = start();
		void send('refused', () => untold(429, { 'retry-after': '3600' }));
		await pass(200);
		void send('later', () => untold());
		await pass(hour);
		expect(events).toEqual(['refused at 0', 'later at 60']);
	});

	test('an answer without a window says nothing where others have one', async () => {
		const { clock, events, send, pass } = start();
		void send('first', () => told(clock, 0, 5));
		await pass(200);
		for (let i = 0; i < 9; i += 1) void send(`${i}`, () => untold(), {}, 200);
		await pass(4_900);
		// The window was used up: one asks, then another.
		expect(events.slice(1)).toEqual(['0 at 5']);
	});
});

describe('when the plan is used up', () => {
	test('everyone waits for the window, then one asks', async () => {
		const { clock, events, send, pass } = start();
		void send('first', () => told(clock, 0, 30));
		await pass(200);
		for (let i = 0; i < 5; i += 1) void send(`${i}`, () => told(clock, 100));
		await pass(29_800);
		expect(events).toEqual(['first at 0']);
		await pass(150);
		expect(events).toEqual(['first at 0', '0 at 30']);
		await pass(500);
		expect(events).toHaveLength(6);
	});

	test('who would wait too long gives up at once, and is told when to come back', async () => {
		const { clock, events, send, pass } = start();
		void send('first', () => told(clock, 0, 90));
		await pass(200);
		const until = clock.now() + 30_000;
		const late = send('late', () => told(clock, 100), { until });
		await pass(10);
		expect(await late).toEqual({ returnAt: expect.closeTo(clock.now() + 89_890, -2) });
		expect(events).toEqual(['first at 0']);
	});

	test('those that wait give up when the plan is found to be used up for too long', async () => {
		const { clock, send, pass } = start();
		for (let i = 0; i < 4; i += 1) void send(`${i}`, () => told(clock, 0, 90));
		const late = send('late', () => told(clock, 100), { until: clock.now() + 30_000 });
		await pass(200);
		expect(await late).toMatchObject({ returnAt: expect.any(Number) });
	});
});

describe('a place is free', () => {
	/** One is left, and somebody holds it; then another asks. */
	async function held(hold: (send: ReturnType<typeof start>['send']) => void) {
		const all = start();
		void all.send('first', () => told(all.clock, 1, 600));
		await all.pass(200);
		hold(all.send);
		await all.pass(200);
		void all.send('next', () => told(all.clock, 0));
		await all.pass(10);
		return all;
	}

	test('when its request throws', async () => {
		const { events } = await held((send) => void send('throws', () => Promise.reject(new Error('odd'))));
		expect(events.at(-1)).toBe('next at 0');
	});

	test('when its connection breaks', async () => {
		const { events } = await held((send) => void send('broken', () => ({ connectionError: 'ECONNRESET' }) as never));
		expect(events.at(-1)).toBe('next at 0');
	});

	test('when its execution is cancelled, even if the request goes on', async () => {
		const cancel = new AbortController();
		const { events, pass } = await held((send) => void send('cancelled', never, { signal: cancel.signal }));
		expect(events).not.toContain('next at 0');
		cancel.abort();
		await pass(10);
		expect(events.at(-1)).toBe('next at 0');
	});

	test('at the deadline of its answer, whatever became of it', async () => {
		const { events, pass } = await held((send) => void send('hangs', never));
		await pass(deadline - 1_000);
		expect(events).not.toContainEqual(expect.stringMatching(/^next/));
		await pass(1_000);
		expect(events.at(-1)).toBe('next at 300');
	});
});

test('who is cancelled in the queue leaves at once and is not sent', async () => {
	const { clock, queue, events, send, pass } = start();
	void send('first', () => told(clock, 0, 30));
	await pass(200);
	const cancel = new AbortController();
	const cancelled = send('cancelled', () => told(clock, 100), { signal: cancel.signal });
	await pass(1_000);
	cancel.abort(new Error('stop'));
	expect(await cancelled).toEqual(new Error('stop'));
	await pass(60_000);
	expect(events).toEqual(['first at 0']);
	expect(queue.isIdle()).toBe(true);
	expect(await send('later', () => told(clock, 1), { signal: cancel.signal })).toEqual(new Error('stop'));
});

test('a queue that nobody uses vanishes, and another credential has another queue', async () => {
	const clock = new SimulatedClock();
	const queue = queueOf('address, old key', clock);
	expect(queueOf('address, old key', clock)).toBe(queue);
	expect(queueOf('address, old key', new SimulatedClock())).not.toBe(queue);
	await Promise.all([
		queue.inTurn(turnAt(clock), async () => told(clock, 0)),
		clock.runUntil(clock.now() + 59_000),
	]);
	expect(queueOf('address, new key', clock)).not.toBe(queue);
	// It still knows that the plan is used up.
	expect(queueOf('address, old key', clock)).toBe(queue);
	await clock.runUntil(clock.now() + 2_000);
	queueOf('address, third key', clock);
	expect(queueOf('address, old key', clock)).not.toBe(queue);
});
