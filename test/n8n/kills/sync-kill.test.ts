import { startKillableN8n } from '../harness/killable-n8n.ts';
import { expectInStepThoughKilled } from '../harness/two-way-killed.ts';

// SYNC_EDITS=1000 SYNC_KILLS=5 npx jest test/n8n/kills/sync-kill
const edits = Number(process.env['SYNC_EDITS'] ?? 20);
const kills = Number(process.env['SYNC_KILLS'] ?? 1);
const seed = Number(process.env['SYNC_SEED'] ?? 7);

test(`${edits} edits on each side and ${kills} kills of n8n: both become equal, and n8n writes nothing else`, async () => {
	const n8n = await startKillableN8n();
	try {
		const { workflowId } = await expectInStepThoughKilled(n8n, { edits, kills, seed });
		expect(await n8n.client.listExecutions(workflowId, ['error'])).toEqual([]);
	} finally {
		await n8n.close();
	}
}, 3_600_000);
