import { readExample } from '../../../demo/examples.ts';
import { byId } from '../../support/parameters.ts';
import { sandboxCredential, theN8n } from '../harness/access.ts';
import { animation } from '../harness/animation.ts';
import { inBrowser, useEditor, writePicture } from '../harness/browser.ts';
import { workflowWith } from '../harness/run-n8n-node.ts';
import { callSandbox, createRecord } from '../harness/sandbox-calls.ts';

/** A node of an example, as it looks once it was executed. */
const nodes = [
	{ picture: 'node', example: 'list-contacts.json', node: 'Get many contacts' },
	{ picture: 'writing', example: 'import-leads.json', node: 'Create or update contacts' },
	{ picture: 'filters', example: 'renewal-reminders.json', node: 'Due soon' },
	{ picture: 'sync', example: 'sync-table-into-crm.json', node: 'Sync to contacts' },
	{ picture: 'import-file', example: 'import-contacts-file.json', node: 'Import visitors' },
	{ picture: 'poll-trigger', example: 'invoice-line-for-won-deals.json', node: 'Deal won' },
];

inBrowser.describe('The pictures of the documentation show n8n', () => {
	const n8n = theN8n();
	const editor = useEditor();

	const { type, data } = sandboxCredential();
	const name = 'CRM Platform (sandbox)';
	let credential: { type: string; id: string; name: string };

	const addExample = async (file: string) => await n8n.createWorkflow(readExample(file, credential));

	beforeAll(async () => {
		credential = { type, id: await n8n.createCredential({ type, name, data }), name };
		// An event for the trigger to show.
		const { id } = await createRecord('/v1/deals', { title: 'Fleet telematics', amount: 24_500 });
		await callSandbox('POST', `/v1/deals/${id}/win`, {});
	});

	test.each(nodes)('$picture: $node of $example, executed', async ({ picture, example, node }) => {
		await editor.openNode(await addExample(example), node);
		await editor.execute();
		// A form that is red has lost a parameter, or asks for one that the example does not set.
		expect(await editor.complaints()).toEqual([]);
		await editor.picture(picture);
	});

	const togglePreview = async () => await editor.parameter('preview').locator('.el-switch').click();
	const showSchema = async () => await editor.page.getByTestId('output-panel').getByText('Schema', { exact: true }).click();

	test('move-in: the preview of related files', async () => {
		await editor.openNode(await addExample('move-in.json'), 'Import them with their links');
		await togglePreview();
		await editor.execute();
		await showSchema();
		await editor.picture('move-in');
	});

	test('duplicates and personal-data: previews of a merge and of an erasure', async () => {
		const addContact = async (values: object) => (await createRecord('/v1/contacts', { last_name: 'Feld', ...values })).id;
		const nora = await addContact({ first_name: 'Nora', email: 'nora.feld@harbor.example' });
		const double = await addContact({ first_name: 'N.', job_title: 'Buyer' });
		await createRecord('/v1/deals', { title: 'Cold store for Nora Feld', contact_id: double });
		await createRecord('/v1/notes', { body: 'Nora Feld asks for an offer.', links: [{ resource: 'contacts', id: nora }] });
		const previews = [
			['duplicates', 'Merge contacts', 'Duplicates', { resource: 'contact', operation: 'merge' }, { ids: [nora, double] }],
			['personal-data', 'Erase a person', 'Admin', { resource: 'person', operation: 'erase', recordId: byId(nora) }, {}],
		] as const;
		for (const [picture, nodeName, nodeType, parameters, item] of previews) {
			const node = { name: nodeName, type: `n8n-nodes-crm-platform.crmPlatform${nodeType}` };
			const run = { node, credentials: { [type]: { id: credential.id, name } }, parameters, input: [item] };
			await editor.openNode(await n8n.createWorkflow(workflowWith(run)), nodeName);
			await editor.execute();
			await showSchema();
			expect(await editor.complaints()).toEqual([]);
			await editor.picture(picture);
		}
	});

	test('workflow: an example with its note on the canvas', async () => {
		const id = await addExample('lead-from-a-form.json');
		await editor.goTo(`/workflow/${id}`);
		await editor.page.getByTestId('canvas-node').first().waitFor();
		await editor.page.getByTestId('zoom-to-fit').click();
		await editor.picture('workflow');
	});

	test('import-and-undo: a file is previewed and imported, and the import undone', async () => {
		const visitors = async () => (await callSandbox('GET', '/v1/contacts?email[contains]=@fair.example&limit=1')).body.total;
		const frames: Buffer[] = [];
		const run = async () => {
			expect(await editor.execute()).not.toBe('');
			await showSchema();
			frames.push(await editor.frame());
		};
		// Another test may have imported the file already.
		for (;;) {
			const { data } = (await callSandbox('GET', '/v1/contacts?email[contains]=@fair.example&limit=100')).body;
			if (data.length === 0) break;
			await callSandbox('POST', '/v1/contacts/batch/delete', { items: data.map((contact) => ({ id: contact.id })) });
		}
		const before = await visitors();
		const id = await addExample('import-contacts-file.json');
		await editor.openNode(id, 'Import visitors');
		await togglePreview();
		await run();
		expect(await visitors()).toBe(before);
		await togglePreview();
		await run();
		expect(await visitors()).toBeGreaterThan(before);
		const execution = (await n8n.listExecutions(id)).at(-1);
		await editor.addBehindTrigger('CRM Platform', 'Undo changes', name);
		await editor.pickRecord('undoId', `${execution} –`);
		await run();
		await togglePreview();
		await run();
		expect(await visitors()).toBe(before);
		const picture = animation(frames, 3);
		expect(picture.length).toBeLessThan(1_500_000);
		await writePicture('import-and-undo', picture);
	});
});
