import { randomBytes } from 'node:crypto';
import { sandboxCredential, theN8n, theWorld } from '../harness/access.ts';
import { EditedContacts } from '../harness/edited-contacts.ts';
import { EditedTable } from '../harness/edited-table.ts';
import { serviceCaller } from '../harness/killable-n8n.ts';
import { expectInStep, twoWayExample } from '../harness/two-way.ts';

// SYNC_EDITS=1000 npx jest --config test/n8n/browser/jest.config.cjs sync-two-way
const edits = Number(process.env['SYNC_EDITS'] ?? 40);
const seed = Number(process.env['SYNC_SEED'] ?? 7);

test(`${edits} edits in a table and ${edits} in the CRM: both become equal, and n8n writes nothing else`, async () => {
	const n8n = theN8n();
	const { sandboxUrl: url, apiKey } = theWorld();
	const name = `people_${randomBytes(4).toString('hex')}`;
	const domain = `${name.replace('_', '-')}.example`;
	const credential = sandboxCredential();
	const id = await n8n.createCredential(credential);
	const workflowId = await n8n.createWorkflow(twoWayExample(name, { ...credential, id }));
	await n8n.activateWorkflow(workflowId);

	const crm = new EditedContacts(serviceCaller({ url, apiKey }), domain);
	const other = new EditedTable(n8n, name, domain);
	await expectInStep({ n8n, workflowId, crm, other, domain, edits, seed });

	expect(await n8n.listExecutions(workflowId, ['error', 'crashed'])).toEqual([]);
}, 3_600_000);
