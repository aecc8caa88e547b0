import fc from 'fast-check';

import { SimulatedClock } from '../../bench/scale/clock.ts';
import type { Newest } from '../../nodes/CrmPlatform/api/eventLog';
import { forgetLooks, sharedLook, untilNextLook } from '../../nodes/CrmPlatform/trigger/changes/sharedLook';
import { randomRuns } from '../random-runs.ts';

const eventAt = (sequence: number): Newest => ({ identity: `${sequence}`, timestamp: '', sequence, account: '' });

test('fifty idle triggers ask as one, whenever they were published', async () => {
	forgetLooks();
	const clock = new SimulatedClock();
	let requests = 0;
	const interval = 15_000;
	for (let i = 0; i < 50; i += 1) {
		void (async () => {
			await clock.sleep(i * 977);
			for (;;) {
				await sharedLook('view', interval / 2, clock, async () => {
					requests += 1;
					await clock.sleep(200);
					return eventAt(1);
				});
				await clock.sleep(untilNextLook(interval, clock.now()));
			}
		})();
	}
	await clock.runUntil(clock.now() + 60_000);
	requests = 0;
	await clock.runUntil(clock.now() + 10 * interval);
	expect(requests).toBe(10);
});

test('a shared look is never older than is wanted, never that of another credential, and a failure only of those who asked meanwhile', async () => {
	const asker = fc.record({ at: fc.nat(60_000), view: fc.constantFrom(0, 1), longest: fc.constantFrom(500, 7_500, 30_000), ms: fc.nat(20_000), fails: fc.boolean() });
	const property = fc.asyncProperty(fc.array(asker, { minLength: 2, maxLength: 30 }), async (askers) => {
		forgetLooks();
		const clock = new SimulatedClock();
		const begun = clock.now();
		const looks: Array<{ view: number; asked: number; longest: number; seen: number; at?: number; failedAt?: number }> = [];
		for (const { at, view, longest, ms, fails } of askers) {
			void clock.sleep(at).then(async () => {
				const asked = clock.now() - begun;
				const look = sharedLook(`${view}`, longest, clock, async () => {
					// What a service shows grows with each millisecond, and tells one from the other.
					const seen = clock.now() - begun;
					await clock.sleep(ms);
					if (fails) throw new Error(`${seen * 2 + view} ${clock.now() - begun}`);
					return eventAt(seen * 2 + view);
				});
				await look.then(
					({ newest, at: told }) => looks.push({ view: newest!.sequence % 2 === view ? view : -1, asked, longest, seen: Math.floor(newest!.sequence / 2), at: told - begun }),
					({ message }: Error) => {
						const [sequence = 0, failedAt = 0] = message.split(' ').map(Number);
						looks.push({ view: sequence % 2 === view ? view : -1, asked, longest, seen: Math.floor(sequence / 2), failedAt });
					},
				);
			});
		}
		await clock.runUntil(begun + 200_000);
		expect(looks).toHaveLength(askers.length);
		const isWrong = ({ view, asked, longest, seen, at = seen, failedAt = Infinity }: (typeof looks)[number]) =>
			view < 0 || at !== seen || seen > asked || asked - seen >= longest || failedAt < asked;
		expect(looks.filter(isWrong)).toEqual([]);
	});
	await fc.assert(property, randomRuns(200));
}, 60_000);

test('after a failure, whoever asks next asks the service', async () => {
	forgetLooks();
	const clock = new SimulatedClock();
	const failing = sharedLook('view', 10_000, clock, async () => await Promise.reject(new Error('away')));
	await expect(failing).rejects.toThrow('away');
	expect(await sharedLook('view', 10_000, clock, async () => await Promise.resolve(eventAt(2)))).toMatchObject({ newest: { sequence: 2 } });
});
