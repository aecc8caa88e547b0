import { until } from '../../support/until.ts';
import { EditedContacts } from './edited-contacts.ts';
import { EditedTable } from './edited-table.ts';
import type { KillableN8n } from './killable-n8n.ts';
import { expectInStep, twoWayExample } from './two-way.ts';

/**
 * The two-way example while people edit both sides and n8n is killed, each time just after it has
 * written to the CRM: see `expectInStep`.
 */
export async function expectInStepThoughKilled(
	{ client: n8n, call, credentialId, killAndStart }: KillableN8n,
	{ edits, kills, seed }: { edits: number; kills: number; seed: number },
): Promise<{ workflowId: string }> {
	const name = 'people_edited';
	const domain = 'people-edited.example';
	const credential = { type: 'crmPlatformApi', id: credentialId, name: 'Sandbox' };
	const workflowId = await n8n.createWorkflow(twoWayExample(name, credential));
	await n8n.activateWorkflow(workflowId);
	const crm = new EditedContacts(call, domain);
	const other = new EditedTable(n8n, name, domain);
	const writes = async () => [...(await crm.writesOfN8n()).values()].reduce((sum, count) => sum + count, 0);
	const kill = async () => {
		const before = await writes();
		await until(async () => (await writes()) > before);
		await killAndStart();
	};
	const meanwhile = Array.from({ length: kills }, () => kill);
	await expectInStep({ n8n, workflowId, crm, other, domain, edits, seed, meanwhile });
	return { workflowId };
}
