import { hour, never, requestAt, start, withWindow } from './queued-requests.ts';

describe('a window that the CRM has reported wrongly', () => {
	test('is checked by one request a minute while it is exhausted, and delays no request for longer', async () => {
		const { clock, events, send, pass } = start();
		await Promise.all([send('first', () => withWindow(clock, -1, 3_600_000)), pass(200)]);
		for (let i = 0; i < 10; i += 1) void send(`${i}`, () => withWindow(clock, 900), { timeoutAt: clock.now() + 2_000 * hour });
		await pass(50_000);
		expect(events).toHaveLength(1);
		await pass(11_000);
		expect(events).toHaveLength(11);
		expect(events[1]).toBe('0 at 60');
	});

	test('is checked by more and more requests if the CRM hangs then', async () => {
		const { clock, events, send, pass } = start();
		await Promise.all([send('first', () => withWindow(clock, -1, 3_600_000)), pass(200)]);
		for (let i = 0; i < 7; i += 1) void send(`${i}`, never, { timeoutAt: clock.now() + 2_000 * hour });
		await pass(63_000);
		expect(events.map((event) => event.split(' at ')[1])).toEqual(['0', '60', '61', '62', '62', '63', '63', '63']);
	});

	test('is checked by a request that arrives a minute later, even one that may not wait', async () => {
		const { clock, events, send, pass } = start();
		await Promise.all([send('first', () => withWindow(clock, -1, 3_600)), pass(200)]);
		await Promise.all([send('refused', () => withWindow(clock, 900), { timeoutAt: clock.now() }), pass(200)]);
		expect(events).toHaveLength(1);
		await pass(60_000);
		await Promise.all([send('later', () => withWindow(clock, 900), { timeoutAt: clock.now() }), pass(200)]);
		expect(events).toHaveLength(2);
	});

	test('is replaced when the response to a later request reports another one, even one that ends earlier', async () => {
		const { clock, events, send, pass } = start();
		await Promise.all([send('first', () => withWindow(clock, 1, 3_600)), pass(200)]);
		await Promise.all([send('second', () => withWindow(clock, 900, 60)), pass(200)]);
		for (let i = 0; i < 10; i += 1) void send(`${i}`, () => withWindow(clock, 900, 60));
		await pass(50);
		expect(events).toHaveLength(12);
	});

	test('is replaced when the response to a later request reports a larger remainder, as after an upgrade', async () => {
		const { clock, events, send, pass } = start();
		await Promise.all([send('first', () => withWindow(clock, -1, 3_600)), pass(200)]);
		for (let i = 0; i < 10; i += 1) void send(`${i}`, () => withWindow(clock, 900, 3_540), { timeoutAt: clock.now() + 2 * hour });
		await pass(61_000);
		expect(events).toHaveLength(11);
	});

	test('is kept when the response to an earlier request reports another one', async () => {
		const { clock, events, send, pass } = start();
		void send('early', () => withWindow(clock, 900, 60), {}, 300);
		await Promise.all([send('late', () => withWindow(clock, -1, 3_600)), pass(400)]);
		void send('next', () => withWindow(clock, 900, 60));
		await pass(1_000);
		expect(events).toHaveLength(2);
	});

	test('expires even if the clock of this machine is set back', async () => {
		const { clock, queue, events, send, pass } = start();
		let back = 0;
		const { now } = clock;
		Object.assign(clock, { now: () => now() - back });
		await Promise.all([send('first', () => withWindow(clock, -1, 60)), pass(200)]);
		back = 20 * hour;
		void queue.enqueue({ ...requestAt(clock), timeoutAt: Infinity }, async () => {
			events.push('second');
			return withWindow(clock, 900);
		});
		await pass(61_000);
		expect(events).toEqual(['first at 0', 'second']);
	});
});
