import fc from 'fast-check';

import { SimulatedClock } from '../../bench/scale/clock.ts';
import { SimulatedService } from '../../bench/scale/service.ts';
import { RequestQueue } from '../../nodes/CrmPlatform/api/http/requestQueue';
import { randomRuns } from '../support/random-runs.ts';
import { hour, totalTimeout, withoutWindow } from './queued-requests.ts';

const queuedRequest = fc.record({
	at: fc.nat(120_000),
	priority: fc.constantFrom('awaited', 'ordinary', 'bulk'),
	workflow: fc.constantFrom('a', 'b', 'c'),
	wasDeferred: fc.boolean(),
	reserve: fc.constantFrom(0, 0.3, 0.9),
	wait: fc.constantFrom(0, 30_000, 40 * hour),
	fate: fc.constantFrom('answered', 'answered', 'answered', 'withoutWindow', 'unavailable', 'broken', 'throws', 'hangs'),
	canceledAfter: fc.option(fc.nat(150_000), { freq: 3, nil: undefined }),
});

test('whatever happens to earlier requests, each one is sent, times out or is canceled; and the queue ends empty', async () => {
	const scenario = fc.record({
		queued: fc.array(queuedRequest, { minLength: 1, maxLength: 40 }),
		requests: fc.integer({ min: 1, max: 30 }),
		windowMs: fc.constantFrom(10_000, 60_000),
		counts: fc.constantFrom('fixed window' as const, 'sliding window' as const, 'token bucket' as const),
		/** How long (ms) the service wrongly reports a window that is exhausted for thirty hours. */
		wrongFor: fc.constantFrom(0, 1_000, 90_000),
	});
	const property = fc.asyncProperty(scenario, async ({ queued, wrongFor, ...plan }) => {
		const clock = new SimulatedClock();
		const begun = clock.now();
		const queue = new RequestQueue(clock);
		const service = new SimulatedService(clock, { name: '', ...plan });
		const withWindow = async () => {
			const answer = await service.transport();
			const isWrong = clock.now() - begun < wrongFor;
			return isWrong ? { ...answer, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${30 * 3_600}` } } : answer;
		};
		const answers = {
			answered: withWindow,
			withoutWindow: async () => withoutWindow(),
			unavailable: async () => withoutWindow(503),
			broken: async () => ({ connectionError: 'ECONNRESET' }),
			throws: async () => await Promise.reject(new Error('odd')),
			hangs: async () => await clock.sleep(totalTimeout).then(() => ({ connectionError: 'ETIMEDOUT' })),
		};
		const ends = queued.map(() => 'waits');
		queued.forEach(({ at, fate, wait, canceledAfter, ...more }, i) => {
			void clock.sleep(at).then(async () => {
				const cancel = new AbortController();
				if (canceledAfter !== undefined) void clock.sleep(canceledAfter).then(() => cancel.abort());
				const timeoutAt = clock.now() + wait;
				await queue
					.enqueue({ ...more, timeoutAt, signal: cancel.signal }, async () => {
						ends[i] = 'sent';
						return await answers[fate]();
					})
					.then(
						(answer) => {
							if (!('retryAt' in answer)) return;
							ends[i] = 'timed out';
							expect(wait).toBeLessThan(40 * hour);
						},
						() => (ends[i] = cancel.signal.aborted || fate === 'throws' ? 'ended' : 'failed'),
					);
			});
		});
		await clock.advance(19 * hour);
		expect(ends.filter((end) => ['waits', 'failed'].includes(end))).toEqual([]);
		expect(queue.isIdle()).toBe(true);
	});
	await fc.assert(property, randomRuns(300));
}, 60_000);
