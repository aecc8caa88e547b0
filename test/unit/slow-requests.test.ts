import { never, start, withWindow } from './queued-requests.ts';

const times = (events: string[], name: string) => events.filter((event) => event.startsWith(name)).map((event) => Number(event.split(' at ')[1]));

test('four requests that hang delay nothing for longer than a second, in this window and in the next ones', async () => {
	const { clock, events, send, pass } = start();
	for (let i = 0; i < 4; i += 1) void send('hangs', never, { workflow: 'b' });
	let left = 20;
	const small = () => void send('small', () => withWindow(clock, (left -= 1), 10), {}, 50);
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

test('a slow request that is still in flight when a used-up window ends delays nothing', async () => {
	const { clock, events, send, pass } = start();
	await Promise.all([send('first', () => withWindow(clock, 1, 10)), pass(200)]);
	void send('slow', () => withWindow(clock, 50, 10), {}, 60_000);
	await pass(5_000);
	void send('last', () => withWindow(clock, 0, 5));
	await pass(200);
	for (let i = 0; i < 3; i += 1) void send('next', () => withWindow(clock, 50, 10));
	await pass(30_000);
	expect(times(events, 'next')).toEqual([10, 10, 10]);
});

describe('in a window with room, a slow request', () => {
	/** Two may be under way at once. */
	async function withTwoPlaces() {
		const all = start();
		await Promise.all([all.send('first', () => withWindow(all.clock, 64, 600)), all.pass(200)]);
		return all;
	}

	test('is counted in the remainder once a later one is answered, and takes no place', async () => {
		const { clock, events, send, pass } = await withTwoPlaces();
		void send('slow', never);
		await pass(50);
		for (let i = 0; i < 4; i += 1) void send('next', () => withWindow(clock, 64, 600), {}, 700);
		await pass(750);
		expect(times(events, 'next')).toHaveLength(2);
		await pass(700);
		expect(times(events, 'next')).toHaveLength(4);
	});

	test('that fills all places makes room for one more each second, but never for more than the remainder', async () => {
		const { events, send, pass } = await withTwoPlaces();
		for (let i = 0; i < 80; i += 1) void send('slow', never);
		await pass(50);
		const counts = [];
		for (let second = 0; second < 8; second += 1) {
			counts.push(times(events, 'slow').length);
			await pass(1_000);
		}
		expect(counts).toEqual([2, 4, 8, 16, 32, 64, 64, 64]);
	});
});
