import { hour, never, start, startAfter } from './queued-requests.ts';

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

	test('is checked by more and more requests if the CRM hangs then', async () => {
		const { clock, events, sendMany, pass } = await startAfter([-1, 3_600_000]);
		sendMany(7, 'next', never, { timeoutAt: clock.now() + 2_000 * hour });
		await pass(63_000);
		expect(events.map((event) => event.split(' at ')[1])).toEqual(['0', '60', '61', '62', '62', '63', '63', '63']);
	});

	test('is checked by a request that arrives a minute later, even one that may not wait', async () => {
		const { clock, events, send, withWindow, pass } = await startAfter([-1, 3_600]);
		await Promise.all([send('refused', () => withWindow(900), { timeoutAt: clock.now() }), pass(200)]);
		expect(events).toHaveLength(1);
		await pass(60_000);
		await Promise.all([send('later', () => withWindow(900), { timeoutAt: clock.now() }), pass(200)]);
		expect(events).toHaveLength(2);
	});

	test('is replaced when the response to a later request reports another one, even one that ends earlier', async () => {
		const { events, send, sendMany, withWindow, pass } = await startAfter([1, 3_600]);
		await Promise.all([send('second', () => withWindow(900, 60)), pass(200)]);
		sendMany(10, 'next', () => withWindow(900, 60));
		await pass(50);
		expect(events).toHaveLength(12);
	});

	test('is replaced when the response to a later request reports a larger remainder, as after an upgrade', async () => {
		const { clock, events, sendMany, withWindow, pass } = await startAfter([-1, 3_600]);
		sendMany(10, 'next', () => withWindow(900, 3_540), { timeoutAt: clock.now() + 2 * hour });
		await pass(61_000);
		expect(events).toHaveLength(11);
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
