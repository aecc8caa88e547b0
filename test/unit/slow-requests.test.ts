import { never, start, startAfter } from './queued-requests.ts';

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

test('a slow request that is still in flight when a used-up window ends delays nothing', async () => {
	const { events, send, sendMany, withWindow, pass } = await startAfter([1, 10]);
	void send('slow', () => withWindow(50, 10), {}, 60_000);
	await pass(5_000);
	void send('last', () => withWindow(0, 5));
	await pass(200);
	sendMany(3, 'next', () => withWindow(50, 10));
	await pass(30_000);
	expect(times(events, 'next')).toEqual([10, 10, 10]);
});

describe('in a window with room, a slow request', () => {
	/** Two may be under way at once. */
	async function withTwoPlaces() {
		const all = start();
		await Promise.all([all.send('first', () => all.withWindow(64, 600)), all.pass(200)]);
		return all;
	}

	test('is counted in the remainder once a later one is answered, and takes no place', async () => {
		const { events, send, sendMany, withWindow, pass } = await withTwoPlaces();
		void send('slow', never);
		await pass(50);
		sendMany(4, 'next', () => withWindow(64, 600), {}, 700);
		await pass(750);
		expect(times(events, 'next')).toHaveLength(2);
		await pass(700);
		expect(times(events, 'next')).toHaveLength(4);
	});

	test('that fills all places makes room for one more each second, but never for more than the remainder', async () => {
		const { events, sendMany, pass } = await withTwoPlaces();
		sendMany(80, 'slow', never);
		await pass(50);
		const counts = [];
		for (let second = 0; second < 8; second += 1) {
			counts.push(times(events, 'slow').length);
			await pass(1_000);
		}
		expect(counts).toEqual([2, 4, 8, 16, 32, 64, 64, 64]);
	});
});
