import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { until } from '../../support/until.ts';
import { ofSandbox, sandboxCredential, theN8n } from '../harness/access.ts';
import { inBrowser, useEditor } from '../harness/browser.ts';
import { pollingWorkflow } from '../harness/killable-n8n.ts';
import { actionNode, workflowWith } from '../harness/run-n8n-node.ts';
import { callSandbox, createRecord } from '../harness/sandbox-calls.ts';

inBrowser.describe('In n8n in a browser,', () => {
	const n8n = theN8n();
	const editor = useEditor();

	let credentials: Awaited<ReturnType<typeof ofSandbox>>;
	beforeAll(async () => void (credentials = await ofSandbox()));

	async function openNode(parameters: IDataObject): Promise<void> {
		const id = await n8n.createWorkflow(workflowWith({ credentials, parameters }));
		await editor.openNode(id, actionNode);
	}

	test('a name typed before the form had a list stays valid once the node is opened again', async () => {
		const { body } = await callSandbox('GET', '/v1/users?limit=1');
		const { id, name } = body.data[0]!;
		const typed = (field: string) => ({
			id: field,
			displayName: field,
			type: 'string',
			required: false,
			display: true,
			removed: false,
			defaultMatch: false,
			canBeUsedToMatch: false,
		});
		const value = { last_name: 'Moreno', owner_id: String(name) };
		const fields = { mappingMode: 'defineBelow', value, matchingColumns: [], schema: Object.keys(value).map(typed) };
		await openNode({ resource: 'contact', operation: 'create', fieldsMode: 'each', simplify: false, fields });

		// The list has replaced the text.
		await editor.parameter('owner_id').locator('[role="combobox"]').waitFor();
		expect(await editor.execute()).toContain(String(id));
		expect(await editor.complaints()).toEqual([]);
	});

	test('the fields of the account are loaded into a form that n8n opened before it knew the credential', async () => {
		const credential = sandboxCredential();
		await n8n.createCredential(credential);
		await editor.addBehindTrigger('CRM Platform', 'Create deal', credential.name);
		const form = editor.page.getByTestId('node-parameters');
		const notice = form.getByText('Custom fields and lists are not loaded yet');
		// n8n loads the fields when it opens the form, before or after it has assigned the credential.
		await notice.or(editor.parameter('stage_id').locator('[role="combobox"]')).first().waitFor();
		if (await notice.isVisible()) {
			await form.getByTestId('columns-parameter-input-options-container').getByTestId('action-toggle').click();
			await editor.page.getByText('Refresh Field List', { exact: true }).click();
			await notice.waitFor({ state: 'detached' });
		}
		await editor.choose('stage_id', 'Sales – Negotiation');
		expect(await editor.complaints()).toEqual([]);
	});

	test('another resource has its own operations, and only one record to choose', async () => {
		const shows = async (name: string, label: string) =>
			await until(async () => (await editor.parameter(name).locator('input').first().inputValue()) === label, 20_000);
		await openNode({ resource: 'deal', operation: 'win' });
		await shows('operation', 'Win');
		await editor.choose('resource', 'Contact');
		await shows('operation', 'Get Many');
		await editor.choose('resource', 'Ticket');
		await editor.choose('operation', 'Solve');
		await editor.parameter('assigneeId').waitFor();
		expect(await editor.parameter('recordId').count()).toBe(1);
	});

	test('the Poll Trigger shows the newest records of a custom object, with its fields as filters', async () => {
		const [key, label_singular] = [`cars_${Date.now()}`, `Car ${randomUUID()}`];
		const names = { label_singular, label_plural: `${label_singular}s`, primary_field: 'plate' };
		await createRecord('/v1/custom-objects', { key, ...names });
		const resource = `custom-objects/${key}/records`;
		await createRecord('/v1/custom-fields', { resource, key: 'plate', label: 'Plate', type: 'text' });
		const options = ['Diesel', 'Electric'].map((label) => ({ label, value: label.toLowerCase() }));
		await createRecord('/v1/custom-fields', { resource, key: 'drive', label: 'Drive', type: 'select', options });
		for (let i = 0; i < 8; i++) {
			const custom_fields = { plate: `M-AB ${i}`, drive: i < 7 ? 'electric' : 'diesel' };
			await createRecord(`/v1/${resource}`, { custom_fields });
		}

		await editor.openNode(await n8n.createWorkflow(pollingWorkflow(credentials.crmPlatformApi.id, randomUUID(), {}, [])), 'Trigger');
		await editor.choose('source', 'Records');
		await editor.choose('resource', 'Custom Object Record');
		await editor.pickRecord('objectKey', label_singular);
		await editor.page.getByText('Add filter').click();
		await editor.choose('field', 'Drive');
		await editor.choose('operator', 'Is One Of');
		await editor.choose('choices', 'Electric');
		// A list that allows several choices stays open.
		await editor.page.getByTestId('output-panel').click();
		const output = await editor.execute();

		// The plate is the title of the record as well.
		expect([...new Set(output.match(/M-AB \d/g))].sort()).toEqual(['M-AB 2', 'M-AB 3', 'M-AB 4', 'M-AB 5', 'M-AB 6']);
	});
});
