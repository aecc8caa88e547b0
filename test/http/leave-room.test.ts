import { SimulatedClock } from '../../bench/scale/clock.ts';
import { SimulatedService } from '../../bench/scale/service.ts';
import { promised } from '../../bench/scale/simulate.ts';
import type { Priority } from '../../nodes/CrmPlatform/api/http/requestQueue';
import { readReserve } from '../../nodes/CrmPlatform/api/queueOptions';
import { senderWith, startAfter } from './queued-requests.ts';

const { plan } = promised;
const windows = 6;

/** A hundred executions in four processes that always have something to send, beside a program that ignores them. */
async function runBeside(percent: number, program: { requests: number; from: number }) {
	const clock = new SimulatedClock();
	const service = new SimulatedService(clock, plan);
	const end = clock.now() + windows * plan.windowMs;
	const senderOf = (process: number, priority: Priority) =>
		senderWith(clock, service.transport, { queueName: `${process}`, priority, laterPriority: 'bulk', reserve: readReserve(percent) });
	const request = { method: 'GET', path: '/contacts' } as const;
	let failed = 0;
	for (let i = 0; i < 100; i += 1) {
		const send = senderOf(i % 4, 'bulk');
		void (async () => {
			while (clock.now() < end) if (!(await send(request)).ok) failed += 1;
		})();
	}
	let refused = 0;
	void (async () => {
		await clock.sleep(program.from);
		for (const every = plan.windowMs / program.requests; clock.now() < end; await clock.sleep(every)) {
			void service.transport().then(({ status }) => (refused += status === 429 ? 1 : 0));
		}
	})();
	let maxWaitMs = 0;
	void (async () => {
		for (let i = 0; clock.now() < end; i += 1) {
			await clock.sleep(20_000);
			const sentAt = clock.now();
			void senderOf(i % 4, 'awaited')(request).then(() => (maxWaitMs = Math.max(maxWaitMs, clock.now() - sentAt)));
		}
	})();
	await clock.runUntil(end);
	return { refused: refused / (program.requests * windows), use: service.accepted / (plan.requests * windows), failed, maxWaitMs };
}

test('with 30 % left, a program that needs all of it is hardly ever refused, people hardly wait, and bulk uses the rest', async () => {
	const { refused, use, failed, maxWaitMs } = await runBeside(30, { requests: 300, from: 10_000 });
	expect(refused).toBeLessThanOrEqual(0.01);
	expect(use).toBeGreaterThanOrEqual(0.9);
	expect(failed).toBe(0);
	expect(maxWaitMs).toBeLessThan(2_000);
}, 60_000);

describe('if requests leave room', () => {
	const bulk = { priority: 'bulk', reserve: 0.3 } as const;

	test('as many are sent as leave it, whatever is in flight; others wait for the next window, ordinary ones do not', async () => {
		const { events, send, sendMany, withWindow, pass } = await startAfter([10], bulk);
		let left = 10;
		sendMany(9, 'bulk', () => withWindow((left -= 1), 59), bulk);
		await pass(1_000);
		expect(events.slice(1)).toHaveLength(7);
		void send('ordinary', () => withWindow((left -= 1), 50));
		await pass(200);
		expect(events.at(-1)).toMatch(/^ordinary/);
		left = 100;
		await pass(60_000);
		expect(events.filter((event) => event.startsWith('bulk'))).toHaveLength(9);
	});

	test('one is sent in a window of a single request, and none starves in a smaller plan', async () => {
		const { events, sendMany, withWindow, pass } = await startAfter([5_000], bulk);
		await pass(61_000);
		let left = 1;
		sendMany(3, 'bulk', () => withWindow((left -= 1)), bulk);
		await pass(500);
		expect(events.length).toBeGreaterThan(1);
	});

	test('a request that would wait too long for the next window fails, and its error tells when that begins', async () => {
		const { clock, send, sendMany, withWindow, pass } = await startAfter([10, 90], bulk);
		let left = 10;
		sendMany(7, 'bulk', () => withWindow((left -= 1), 89), bulk);
		await pass(5_000);
		const late = send('late', () => withWindow(9), { ...bulk, timeoutAt: clock.now() + 30_000 });
		await pass(10);
		const { retryAt } = (await late) as { retryAt: number };
		expect(retryAt - clock.now()).toBeGreaterThan(80_000);
	});
});

test.each(['91', '-1', '30 percent', {}])('%p is refused as room for others', (percent) => {
	expect(() => readReserve(percent)).toThrow('Leave Room for Others: enter a percentage from 0 to 90');
});

test('room for others is 0 unless it is entered', () => {
	expect([undefined, '', '30 %', 90].map(readReserve)).toEqual([0, 0, 0.3, 0.9]);
});
