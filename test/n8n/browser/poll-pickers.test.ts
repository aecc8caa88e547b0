import { randomUUID } from 'node:crypto';
import { sandboxCredential, theN8n } from '../harness/access.ts';
import { inBrowser, useEditor } from '../harness/browser.ts';
import { pollingWorkflow } from '../harness/killable-n8n.ts';
import { createRecord } from '../harness/sandbox-calls.ts';

inBrowser.describe('In a browser, the Poll Trigger shows the newest records', () => {
	const n8n = theN8n();
	const editor = useEditor();

	async function openTrigger(): Promise<void> {
		const credentialId = await n8n.createCredential(sandboxCredential());
		const id = await n8n.createWorkflow(pollingWorkflow(credentialId, randomUUID(), {}, []));
		await editor.openNode(id, 'Trigger');
	}

	test('of a custom object, with its fields as filters', async () => {
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

		await openTrigger();
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
