import fc from 'fast-check';

import { SimulatedClock } from '../../../bench/scale/clock.ts';
import type { Newest } from '../../../nodes/CrmPlatform/log/eventLog';
import { forgetPollers } from '../../../nodes/CrmPlatform/trigger/poll/trigger';
import type { Access } from '../../../nodes/CrmPlatform/trigger/poll/pollSettings';
import { forgetNewest, sharedNewest } from '../../../nodes/CrmPlatform/trigger/poll/groupReader';
import { randomRuns } from '../../support/random-runs.ts';
import { pollWorld } from './poll-model/poll-world.ts';

const eventAt = (sequence: number): Newest => ({ identity: `${sequence}`, timestamp: '', sequence, account: '' });

test('a shared answer is not too old and not another credential’s, and its failure affects only those who asked meanwhile', async () => {
	const asker = fc.record({
		at: fc.nat(60_000), view: fc.constantFrom(0, 1), maxAge: fc.constantFrom(500, 7_500, 30_000), ms: fc.nat(20_000), fails: fc.boolean(),
	});
	const property = fc.asyncProperty(fc.array(asker, { minLength: 2, maxLength: 30 }), async (askers) => {
		forgetNewest();
		const clock = new SimulatedClock();
		const begun = clock.now();
		const answers: Array<{ view: number; requestedAt: number; maxAge: number; seen: number; at?: number; failedAt?: number }> = [];
		for (const { at, view, maxAge, ms, fails } of askers) {
			void clock.sleep(at).then(async () => {
				const requestedAt = clock.now() - begun;
				const newest = async () => {
					// The newest sequence grows each millisecond, and shows which of the two views it belongs to.
					const seen = clock.now() - begun;
					await clock.sleep(ms);
					if (fails) throw new Error(`${seen * 2 + view} ${clock.now() - begun}`);
					return eventAt(seen * 2 + view);
				};
				await sharedNewest({ api: { viewer: `${view}` }, log: { newest } } as unknown as Access, maxAge, clock).then(
					({ newest, requestedAt: at }) =>
						answers.push({
							view: newest!.sequence % 2 === view ? view : -1, requestedAt, maxAge, seen: Math.floor(newest!.sequence / 2), at: at - begun,
						}),
					({ message }: Error) => {
						const [sequence = 0, failedAt = 0] = message.split(' ').map(Number);
						answers.push({ view: sequence % 2 === view ? view : -1, requestedAt, maxAge, seen: Math.floor(sequence / 2), failedAt });
					},
				);
			});
		}
		await clock.runUntil(begun + 200_000);
		expect(answers).toHaveLength(askers.length);
		const isWrong = ({ view, requestedAt, maxAge, seen, at = seen, failedAt = Infinity }: (typeof answers)[number]) =>
			view < 0 || at !== seen || seen > requestedAt || requestedAt - seen >= maxAge || failedAt < requestedAt;
		expect(answers.filter(isWrong)).toEqual([]);
	});
	await fc.assert(property, randomRuns(200));
}, 60_000);

afterEach(forgetPollers);

test('a trigger with a long interval neither takes its own answer for a new one, nor waits while there is more to read', async () => {
	const { clock, service, n8n, choose, started } = await pollWorld();
	const [hour, minute] = [3_600_000, 60_000];
	const choice = { ...choose(), interval: hour };
	choice.events.filter.equal.stage = ['lead'];
	const data = (stage: string) => ({ object: { id: 'r2', stage }, previous: {}, changed: [] });
	await clock.advance(hour - (clock.now() % hour) - 20 * minute);
	await n8n.publish('one', choice);
	await clock.advance(minute);
	// More than one reading takes, and none passes the filter.
	for (let i = 0; i < 10_001; i += 1) service.happen('a.x', 'r1', 0, undefined, data('customer'));
	service.happen('a.x', 'r2', 0, undefined, data('lead'));
	await clock.advance(25 * minute);
	expect(started()).toHaveLength(1);
}, 60_000);

test('each trigger reports an outage itself, even if one has asked for all', async () => {
	const { clock, service, n8n, choose } = await pollWorld();
	for (const node of ['one', 'two']) await n8n.publish(node, choose());
	await clock.advance(60_000);
	const { newest } = service.log;
	service.log.newest = async () => {
		await clock.sleep(100);
		return await newest();
	};
	Object.assign(service, { failures: 1, failure: '500' });
	await clock.advance(60_000);
	expect(n8n.reports.map(({ node, about }) => [node, about])).toEqual([['one', 'one'], ['two', 'two']]);
});
