import type { KillableN8n } from '../harness/killable-n8n.ts';
import { countUnderKills } from '../harness/events-under-kills.ts';
import { expectEachOnce } from '../harness/once-each.ts';
import { startKillableQueue } from '../queue/harness/killable-queue.ts';
import { randomOf } from '../../support/random-runs.ts';

// Takes several minutes, so it is not part of `npm test`: QUEUE_EVENTS=500 npx jest test/n8n/by-hand
const kills = Number(process.env['QUEUE_KILLS'] ?? 5);
const events = Number(process.env['QUEUE_EVENTS'] ?? 500);

describe('In queue mode', () => {
	let n8n: KillableN8n;
	beforeAll(async () => {
		n8n = await startKillableQueue();
	}, 600_000);
	afterAll(async () => await n8n?.close());

	test(`${events} events and ${kills} kills of main, workers and webhook processes: each event starts its workflow once`, async () => {
		const attempts = Math.min(kills + 1, 4);
		const outcomes = await countUnderKills(n8n, { events, kills, attempts, random: randomOf(7) });
		// An execution fails if its worker is killed.
		console.log(expectEachOnce(outcomes, { attempts, kills, afterKill: ['crashed', 'error'] }));
	}, 7_200_000);
});
