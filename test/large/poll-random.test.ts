import fc from 'fast-check';

import { eventsIn } from '../integration/poll-log.ts';
import { Poller } from '../integration/poller.ts';
import { useSandbox } from '../integration/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const { contacts } = eventsIn(sandbox);

/** What may happen between two polls, or to one. */
const steps = {
	poll: async (active: Poller) => await active.poll(),
	'two polls at once': async (active: Poller) =>
		void (await Promise.all([active.poll(), active.poll()])),
	'a start of n8n': async (active: Poller) => await active.activate(),
	'another name': async (active: Poller) => {
		active.nodeName = active.nodeName === 'One' ? 'Other' : 'One';
		await active.activate();
	},
	'another size': async (active: Poller) => {
		const mostEvents = active.ids.length % 2 ? 3 : 500;
		active.setup.parameters = { options: { mostEvents } };
		await active.activate();
	},
	'a service that fails': async (active: Poller) => {
		await sandbox.faults({ path: '/v1/events', status: 400, after: 1, times: 1 });
		await active.poll().catch(() => {});
		await sandbox.clear();
	},
};

type Step = keyof typeof steps;

test('whatever happens, each event comes once and in order', async () => {
	const step = fc.record({
		create: fc.integer({ min: 0, max: 7 }),
		then: fc.constantFrom(...(Object.keys(steps) as Step[])),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), async (plan) => {
			const active = new Poller({ credential: sandbox.credential });
			await active.activate();
			const ids: string[] = [];
			for (const { create, then } of plan) {
				if (create > 0) ids.push(...(await contacts(create)));
				await steps[then](active);
			}
			while (active.ids.length < ids.length) {
				const before = active.ids.length;
				await active.poll();
				if (active.ids.length === before) break;
			}
			expect(active.ids).toEqual(ids);
			expect(active.reported).toEqual([]);
		}),
		{ numRuns: 8, seed: 5, endOnFailure: true },
	);
});
