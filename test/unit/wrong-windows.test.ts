import { hour, never, start, told, turnAt } from './queued-requests.ts';

describe('a window that the service has told wrongly', () => {
	test('is asked about once a minute while it is used up, and holds up nobody for longer', async () => {
		const { clock, events, send, pass } = start();
		await Promise.all([send('first', () => told(clock, -1, 3_600_000)), pass(200)]);
		for (let i = 0; i < 10; i += 1) void send(`${i}`, () => told(clock, 900), { until: clock.now() + 2_000 * hour });
		await pass(50_000);
		expect(events).toHaveLength(1);
		await pass(11_000);
		expect(events).toHaveLength(11);
		expect(events[1]).toBe('0 at 60');
	});

	test('is asked about by more and more where the service hangs then', async () => {
		const { clock, events, send, pass } = start();
		await Promise.all([send('first', () => told(clock, -1, 3_600_000)), pass(200)]);
		for (let i = 0; i < 7; i += 1) void send(`${i}`, never, { until: clock.now() + 2_000 * hour });
		await pass(63_000);
		expect(events.map((event) => event.split(' at ')[1])).toEqual(['0', '60', '61', '62', '62', '63', '63', '63']);
	});

	test('is asked about by whoever comes a minute later, however short its patience', async () => {
		const { clock, events, send, pass } = start();
		await Promise.all([send('first', () => told(clock, -1, 3_600)), pass(200)]);
		await Promise.all([send('refused', () => told(clock, 900), { until: clock.now() }), pass(200)]);
		expect(events).toHaveLength(1);
		await pass(60_000);
		await Promise.all([send('later', () => told(clock, 900), { until: clock.now() }), pass(200)]);
		expect(events).toHaveLength(2);
	});

	test('is forgotten when a later request is told another, though that ends earlier', async () => {
		const { clock, events, send, pass } = start();
		await Promise.all([send('first', () => told(clock, 1, 3_600)), pass(200)]);
		await Promise.all([send('second', () => told(clock, 900, 60)), pass(200)]);
		for (let i = 0; i < 10; i += 1) void send(`${i}`, () => told(clock, 900, 60));
		await pass(50);
		expect(events).toHaveLength(12);
	});

	test('is forgotten when a later request is told that there is room again, as of a larger plan', async () => {
		const { clock, events, send, pass } = start();
		await Promise.all([send('first', () => told(clock, -1, 3_600)), pass(200)]);
		for (let i = 0; i < 10; i += 1) void send(`${i}`, () => told(clock, 900, 3_540), { until: clock.now() + 2 * hour });
		await pass(61_000);
		expect(events).toHaveLength(11);
	});

	test('counts where the answer that tells another was asked for before', async () => {
		const { clock, events, send, pass } = start();
		void send('early', () => told(clock, 900, 60), {}, 300);
		await Promise.all([send('late', () => told(clock, -1, 3_600)), pass(400)]);
		void send('next', () => told(clock, 900, 60));
		await pass(1_000);
		expect(events).toHaveLength(2);
	});

	test('counts no longer once the clock of this machine is set back', async () => {
		const { clock, queue, events, send, pass } = start();
		let back = 0;
		const { now } = clock;
		Object.assign(clock, { now: () => now() - back });
		await Promise.all([send('first', () => told(clock, -1, 60)), pass(200)]);
		back = 20 * hour;
		void queue.inTurn({ ...turnAt(clock), until: Infinity }, async () => {
			events.push('second');
			return told(clock, 900);
		});
		await pass(61_000);
		expect(events).toEqual(['first at 0', 'second']);
	});
});
