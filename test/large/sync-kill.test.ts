import { setTimeout as sleep } from 'node:timers/promises';
import { EditedContacts } from '../e2e/harness/edited-contacts.ts';
import { EditedTable } from '../e2e/harness/edited-table.ts';
import { startKillableN8n } from '../e2e/harness/killable.ts';
import { expectInStep, twoWayExample } from '../e2e/harness/two-way.ts';
import { buildPackage } from '../../tools/build.ts';

// SYNC_EDITS=1000 SYNC_KILLS=5 npx jest test/large/sync-kill
const edits = Number(process.env['SYNC_EDITS'] ?? 20);
const kills = Number(process.env['SYNC_KILLS'] ?? 1);
const seed = Number(process.env['SYNC_SEED'] ?? 7);

test(`${edits} edits on each side and ${kills} kills of n8n: both come to agree, and n8n writes nothing else`, async () => {
	await buildPackage();
	const { client: n8n, call, credentialId, killAndStart, close } = await startKillableN8n();
	try {
		const name = 'people_edited';
		const domain = 'people-edited.example';
		const credential = { type: 'crmPlatformApi', id: credentialId, name: 'Sandbox' };
		const workflowId = await n8n.createWorkflow(twoWayExample(name, credential));
		await n8n.activateWorkflow(workflowId);
		const crm = new EditedContacts(call, domain);
		const other = new EditedTable(n8n, name, domain);
		/** Kills are spread over the edits, and each comes just after a write. */
		const meanwhile = async () => {
			const writes = async () => [...(await crm.writesOfN8n()).values()].reduce((sum, count) => sum + count, 0);
			for (let kill = 1; kill <= kills; kill++) {
				// Edits are merged: half as many writes there are in any case.
				const before = Math.max(await writes(), Math.floor((edits * kill) / (kills + 1) / 2));
				while ((await writes()) <= before) await sleep(50);
				await killAndStart();
			}
		};

		await expectInStep({ n8n, workflowId, crm, other, domain, edits, seed, meanwhile });

		expect(await n8n.listExecutions(workflowId, ['error'])).toEqual([]);
	} finally {
		await close();
	}
}, 3_600_000);
