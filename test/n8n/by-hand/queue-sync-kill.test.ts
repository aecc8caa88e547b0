import { expectInStepThoughKilled } from '../harness/two-way-killed.ts';
import { startKillableQueue } from '../queue/harness/killable-queue.ts';

// Takes several minutes, so it is not part of `npm test`: SYNC_KILLS=5 npx jest test/n8n/by-hand/queue-sync
const edits = Number(process.env['SYNC_EDITS'] ?? 100);
const kills = Number(process.env['SYNC_KILLS'] ?? 5);
const seed = Number(process.env['SYNC_SEED'] ?? 7);

test(`in queue mode, ${edits} edits on each side and ${kills} kills of n8n’s processes leave both sides equal`, async () => {
	const n8n = await startKillableQueue();
	try {
		await expectInStepThoughKilled(n8n, { edits, kills, seed });
	} finally {
		await n8n.close();
	}
}, 7_200_000);
