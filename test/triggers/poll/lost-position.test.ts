import type { CrmEvent } from '../../../nodes/CrmPlatform/log/crmEvent';
import { findLostPosition } from '../../../nodes/CrmPlatform/trigger/poll/lostPosition';

/** A log of 300,000 events, of which every thousandth is chosen. */
function longLog() {
	let read = 0;
	const event = (sequence: number, stage: string) =>
		({ id: `e${sequence}`, sequence, type: 'a.x', timestamp: '', data: { object: { stage }, previous: null, changed: [] } }) as CrmEvent;
	async function* newestFirst() {
		for (let i = 300_000; i > 0; i--) {
			read += 1;
			yield event(i, i % 1_000 === 0 ? 'won' : 'lost');
		}
	}
	return { log: { newestFirst }, reads: () => read };
}

const choiceOf = (stage: string) => ({
	events: ['a.x'], filter: { changedFields: [], equal: { stage: [stage] } }, shape: 'event' as const,
});

test('a first publish does not read the whole log, however rarely its filter matches', async () => {
	const { log, reads } = longLog();
	expect(await findLostPosition(log, choiceOf('won'), async () => false)).toBeUndefined();
	expect(reads()).toBe(1_000);
});

test('the position is that of the newest started event; unstarted events since the oldest started one are read again', async () => {
	const { log } = longLog();
	const started = async ({ sequence }: CrmEvent) => sequence <= 299_990 && sequence >= 299_980;
	expect(await findLostPosition(log, choiceOf('lost'), started)).toEqual({ sequence: 299_979, newestStarted: 299_984 });
});
