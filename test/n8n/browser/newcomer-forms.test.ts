import { randomUUID } from 'node:crypto';
import { until } from '../../support/until.ts';
import { sandboxCredential, theN8n, theWorld } from '../harness/access.ts';
import { inBrowser, useEditor } from '../harness/browser.ts';
import { callSandbox, createRecord } from '../harness/sandbox-calls.ts';
import { signInToPages } from '../harness/sign-in.ts';

inBrowser.describe('In a form, a newcomer can', () => {
	const n8n = theN8n();
	const credential = sandboxCredential();
	const mark = randomUUID();
	const editor = useEditor();
	beforeAll(async () => void (await n8n.createCredential(credential)));

	const add = async (action: string) => await editor.addBehindTrigger('CRM Platform', action, credential.name);
	const click = async (text: string) => await editor.page.getByText(text, { exact: true }).click();

	test('load the fields of the account into a form that n8n opened before it knew the credential', async () => {
		await add('Create a deal');
		const form = editor.page.getByTestId('node-parameters');
		const notice = form.getByText('Custom fields and lists are not loaded yet');
		// n8n loads the fields when it opens the form, before or after it has assigned the credential.
		await notice.or(editor.parameter('stage_id').locator('[role="combobox"]')).first().waitFor();
		if (await notice.isVisible()) {
			await form.getByTestId('columns-parameter-input-options-container').getByTestId('action-toggle').click();
			await click('Refresh Field List');
			await notice.waitFor({ state: 'detached' });
		}
		await editor.choose('stage_id', 'Sales – Negotiation');
		expect(await editor.complaints()).toEqual([]);
	});

	test('filter by a company that is picked from a list', async () => {
		const { id: company_id } = await createRecord('/v1/companies', { name: `Picked ${mark}` });
		const { id } = await createRecord('/v1/contacts', { last_name: 'Moreno', company_id });
		await add('Get many contacts');
		await click('Add filter');
		await editor.choose('field', 'Company');
		await editor.choose('operator', 'Is (From List)');
		await editor.pickRecord('record', `Picked ${mark}`);
		expect((await editor.execute()).match(/con_\w+/g)).toEqual([id]);
		expect(await editor.complaints()).toEqual([]);
	});

	test('filter deals by pipeline and stage, and by a month', async () => {
		const { body } = await callSandbox('GET', '/v1/pipelines');
		const { id: pipeline_id, name: pipeline, stages } = body.data[0]!;
		const [stage, other] = stages as Array<{ id: string; name: string }>;
		const date = '2031-03-31';
		const { id } = await createRecord('/v1/deals', { title: mark, pipeline_id, stage_id: stage!.id, expected_close_date: date });
		await createRecord('/v1/deals', { title: mark, pipeline_id, stage_id: other!.id, expected_close_date: date });
		await createRecord('/v1/deals', { title: mark, pipeline_id, stage_id: stage!.id, expected_close_date: '2031-04-01' });
		await add('Get many deals');
		const named = [['Pipeline', String(pipeline)], ['Stage', stage!.name]] as const;
		for (const [row, [field, name]] of named.entries()) {
			await click('Add filter');
			await editor.choose('field', field, row);
			await editor.fill('value', name, row);
		}
		await click('Add filter');
		await editor.choose('field', 'Expected Close Date', 2);
		await editor.choose('operator', 'Is Between', 2);
		await editor.fill('date', '2031-03-01');
		await editor.fill('secondDate', date);
		expect((await editor.execute()).match(/dea_\w+/g)).toEqual([id]);
		expect(await editor.complaints()).toEqual([]);
	});

	test('move a deal to a stage by its name', async () => {
		const { id } = await createRecord('/v1/deals', { title: mark });
		await add('Move a deal to a stage');
		for (const [name, mode, value] of [['recordId', 'By ID', id], ['stageId', 'By Name or ID', 'Negotiation']] as const) {
			await editor.pick(editor.parameter(name).getByTestId('rlc-mode-selector'), mode);
			await editor.fill(name, value);
		}
		expect(await editor.execute()).toContain(id);
		expect(await editor.complaints()).toEqual([]);
	});

	test('solve a ticket that nobody is assigned to', async () => {
		const { id } = await createRecord('/v1/tickets', { subject: mark });
		await add('Solve a ticket');
		await editor.pickRecord('recordId', mark);
		const { body } = await callSandbox('GET', '/v1/users?limit=1');
		await editor.pickRecord('assigneeId', String(body.data[0]!['name']));
		await editor.execute();
		expect((await callSandbox('GET', `/v1/tickets/${id}`)).body).toMatchObject({ status: 'solved' });
		expect(await editor.complaints()).toEqual([]);
	});

	test('define a custom object in the console, and create a record of it', async () => {
		const { sandboxUrl } = theWorld();
		const console = await editor.page.context().newPage();
		const fillIn = async (values: Record<string, string>) => {
			for (const [label, value] of Object.entries(values)) await console.getByLabel(label, { exact: true }).fill(value);
		};
		await signInToPages(console, sandboxUrl);
		await console.goto(`${sandboxUrl}/records/custom-objects/new`);
		const key = `boats_${mark.slice(0, 8)}`;
		await fillIn({
			'Key (required)': key,
			'Singular Label (required)': 'Boat',
			'Plural Label (required)': `Boats ${mark}`,
			'Primary Field (required)': 'hull',
		});
		await console.getByRole('button', { name: 'Create custom object' }).click();
		await console.getByRole('link', { name: 'Add field' }).click();
		await fillIn({ 'Label (required)': 'Hull Number' });
		await console.getByLabel('Type (required)', { exact: true }).selectOption('text');
		await console.getByRole('button', { name: 'Create custom field' }).click();
		await console.getByText('Hull Number').first().waitFor();
		await console.close();

		await add('Create a custom object record');
		await editor.pickRecord('objectKey', `Boats ${mark}`);
		await editor.fill('custom_fields.hull', `GER ${mark}`);
		expect(await editor.execute()).toContain(`GER ${mark}`);
		expect(await editor.complaints()).toEqual([]);
	});

	test('choose another resource, and have its own operations and options', async () => {
		const shows = async (name: string, label: string) =>
			await until(async () => (await editor.parameter(name).locator('input').first().inputValue()) === label, 20_000);
		await add('Win a deal');
		await shows('resource', 'Deal');
		await shows('operation', 'Win');
		await editor.choose('resource', 'Contact');
		await shows('operation', 'Get Many');
		await editor.choose('resource', 'File');
		await shows('operation', 'Export File');
		await editor.choose('operation', 'Import File');
		await editor.parameter('importAs').waitFor();
		await editor.choose('resource', 'Ticket');
		await editor.choose('operation', 'Solve');
		await editor.parameter('assigneeId').waitFor();
		expect(await editor.parameter('recordId').count()).toBe(1);
	});

	test('see the eight initial fields of a form after the operation is switched', async () => {
		await add('Get many contacts');
		await editor.choose('operation', 'Create');
		const form = editor.page.getByTestId('node-parameters');
		await form.getByTestId('add-fields-select').waitFor();
		await form.getByText('Fetching').waitFor({ state: 'detached' });
		expect(await editor.parameter('lifecycle_stage').count()).toBe(1);
		expect(await editor.parameter('avatar_url').count()).toBe(0);
	});
});
