import { randomUUID } from 'node:crypto';
import { inARow, workflowNode as node } from '../../../demo/workflow-node.ts';
import { until } from '../../support/until.ts';
import { ofSandbox, theN8n, theWorld } from '../harness/access.ts';
import { callSandbox } from '../harness/sandbox-calls.ts';

const crmPlatform = 'n8n-nodes-crm-platform.crmPlatform';

const recordWith = async (email: string) => (await callSandbox('GET', `/v1/contacts?email=${email}`)).body.data[0] as unknown;

// What docs/guide/questions.md says about n8n's own nodes before ours.
test.each([
	['File', []],
	['File_0', ['other.csv']],
])('a file that somebody uploads in a form is imported from the field %s', async (binaryField, others) => {
	const path = randomUUID();
	const elements = { values: [{ fieldLabel: 'File', fieldType: 'file', multipleFiles: others.length > 0 }] };
	const parameters = { resource: 'file', operation: 'importFile', importAs: 'create', preview: false, binaryField };
	const nodes = [
		node(
			'Form', 'n8n-nodes-base.formTrigger', 2.2, { formTitle: 'Upload', formFields: elements, responseMode: 'lastNode' }, { webhookId: path },
		),
		node('Import', crmPlatform, 1, parameters, { credentials: await ofSandbox() }),
	];
	const n8n = theN8n();
	await n8n.activateWorkflow(await n8n.createWorkflow({ name: `FAQ ${path}`, nodes, connections: inARow(nodes) }));
	const email = `${path}@example.com`;
	const form = new FormData();
	// One content for all: n8n numbers files in the order in which they are written to its disk (formidable 3.5), not in the form's.
	for (const name of ['list.csv', ...others]) {
		form.append('field-0', new File([`email,last_name\n${email},Lovelace\n`], name, { type: 'text/csv' }));
	}
	const { status } = await fetch(`${theWorld().n8nUrl}/form/${path}`, { method: 'POST', body: form });
	expect(status).toBe(200);
	expect(await until(async () => await recordWith(email))).toMatchObject({ last_name: 'Lovelace' });
});
