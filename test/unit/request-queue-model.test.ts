import fc from 'fast-check';

import { SimulatedClock } from '../../bench/scale/clock.ts';
import { SimulatedService } from '../../bench/scale/service.ts';
import { RequestQueue } from '../../nodes/CrmPlatform/api/http/requestQueue';
import { randomRuns } from '../random-runs.ts';

const hour = 3_600_000;
const untold = (status = 200) => ({ status, headers: {}, text: '' });

const holder = fc.record({
	at: fc.nat(120_000),
	rank: fc.constantFrom('awaited', 'ordinary', 'bulk'),
	workflow: fc.constantFrom('a', 'b', 'c'),
	isRepeated: fc.boolean(),
	forOthers: fc.constantFrom(0, 0.3, 0.9),
	wait: fc.constantFrom(0, 30_000, 40 * hour),
	fate: fc.constantFrom('answered', 'answered', 'answered', 'untold', 'unavailable', 'broken', 'throws', 'hangs'),
	cancelledAfter: fc.option(fc.nat(150_000), { freq: 3, nil: undefined }),
});

test('whatever becomes of those before, everyone has a turn, gives up in time, or was cancelled; and the queue ends empty', async () => {
	const scenario = fc.record({
		holders: fc.array(holder, { minLength: 1, maxLength: 40 }),
		requests: fc.integer({ min: 1, max: 30 }),
		windowMs: fc.constantFrom(10_000, 60_000),
		counts: fc.constantFrom('fixed window' as const, 'sliding window' as const, 'token bucket' as const),
		/** For so long, the service tells of a window that is used up for thirty hours. */
		wrongFor: fc.constantFrom(0, 1_000, 90_000),
	});
	const property = fc.asyncProperty(scenario, async ({ holders, wrongFor, ...plan }) => {
		const clock = new SimulatedClock();
		const begun = clock.now();
		const queue = new RequestQueue(clock);
		const service = new SimulatedService(clock, { name: '', ...plan });
		const told = async () => {
			const answer = await service.transport();
			const isWrong = clock.now() - begun < wrongFor;
			return isWrong ? { ...answer, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${30 * 3_600}` } } : answer;
		};
		const answers = {
			answered: told,
			untold: async () => untold(),
			unavailable: async () => untold(503),
			broken: async () => ({ connectionError: 'ECONNRESET' }),
			throws: async () => await Promise.reject(new Error('odd')),
			hangs: async () => await new Promise<never>(() => {}),
		};
		const ends = holders.map(() => 'waits');
		holders.forEach(({ at, fate, wait, cancelledAfter, ...more }, i) => {
			void clock.sleep(at).then(async () => {
				const cancel = new AbortController();
				if (cancelledAfter !== undefined) void clock.sleep(cancelledAfter).then(() => cancel.abort());
				const until = clock.now() + wait;
				await queue
					.inTurn<object>({ ...more, until, deadline: 300_000, signal: cancel.signal }, async () => {
						ends[i] = 'sent';
						return await answers[fate]();
					})
					.then(
						(answer) => {
							if (!('returnAt' in answer)) return;
							ends[i] = 'gave up';
							expect(wait).toBeLessThan(40 * hour);
						},
						() => (ends[i] = 'ended'),
					);
			});
		});
		await clock.runUntil(clock.now() + 19 * hour);
		expect(ends).not.toContain('waits');
		expect(queue.isIdle()).toBe(true);
	});
	await fc.assert(property, randomRuns(300));
}, 60_000);
