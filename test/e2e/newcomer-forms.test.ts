import { randomUUID } from 'node:crypto';
import { sandboxCredential, theN8n, theWorld } from './harness/access.ts';
import { Editor } from './harness/browser.ts';
import { callSandbox, createRecord } from './harness/sandbox.ts';

const describeWithChromium = theWorld().chromium ? describe : describe.skip;

/** What forms show to somebody who opens them for the first time. */
describeWithChromium('In a form, a newcomer can', () => {
	const n8n = theN8n();
	const credential = sandboxCredential();
	const mark = randomUUID();
	let editor: Editor;

	beforeAll(async () => {
		editor = await Editor.open();
		await editor.signIn();
		await n8n.createCredential(credential);
	});
	afterEach(async () => await editor.screenshot(expect.getState().currentTestName ?? 'unnamed'));
	afterAll(async () => await editor?.close());

	async function expectNothingRed(): Promise<void> {
		const red = editor.page.locator('[data-test-id="parameter-issues"], .el-notification--error');
		expect(await red.filter({ visible: true }).count()).toBe(0);
	}

	const add = async (action: string) => await editor.addBehindTrigger('CRM Platform', action, credential.name);
	const fill = async (name: string, text: string, row = 0) => await editor.parameter(name).nth(row).locator('input').fill(text);
	const click = async (text: string) => await editor.page.getByText(text, { exact: true }).click();

	test('load the fields of the account into a form that n8n opened before it knew the credential', async () => {
		await add('Create a record');
		await editor.choose('kind', 'Deal');
		await fill('title', mark);
		const form = editor.page.getByTestId('node-parameters');
		await form.getByTestId('columns-parameter-input-options-container').getByTestId('action-toggle').click();
		await click('Refresh Field List');
		await form.getByText('Loaded before a credential was chosen').waitFor({ state: 'detached' });
		await editor.choose('stage_id', 'Sales – Negotiation');
		await expectNothingRed();
	});

	test('filter by a company that is picked from a list', async () => {
		const { id: company_id } = await createRecord('/v1/companies', { name: `Picked ${mark}` });
		const { id } = await createRecord('/v1/contacts', { last_name: 'Moreno', company_id });
		await add('Get many records');
		await click('Add filter');
		await editor.choose('field', 'Company');
		await editor.choose('operator', 'Is (From List)');
		await editor.pickRecord('record', `Picked ${mark}`);
		expect((await editor.execute()).match(/con_\w+/g)).toEqual([id]);
		await expectNothingRed();
	});

	test('filter deals by pipeline and stage, and by a month', async () => {
		const { body } = await callSandbox('GET', '/v1/pipelines');
		const { id: pipeline_id, name: pipeline, stages } = body.data[0]!;
		const [stage, other] = stages as Array<{ id: string; name: string }>;
		const date = '2031-03-31';
		const { id } = await createRecord('/v1/deals', { title: mark, pipeline_id, stage_id: stage!.id, expected_close_date: date });
		await createRecord('/v1/deals', { title: mark, pipeline_id, stage_id: other!.id, expected_close_date: date });
		await createRecord('/v1/deals', { title: mark, pipeline_id, stage_id: stage!.id, expected_close_date: '2031-04-01' });
		await add('Get many records');
		await editor.choose('kind', 'Deal');
		const named = [['Pipeline', String(pipeline)], ['Stage', stage!.name]] as const;
		for (const [row, [field, name]] of named.entries()) {
			await click('Add filter');
			await editor.choose('field', field, row);
			await fill('value', name, row);
		}
		await click('Add filter');
		await editor.choose('field', 'Expected Close Date', 2);
		await editor.choose('operator', 'Is Between', 2);
		for (const [name, day] of [['date', '2031-03-01'], ['secondDate', date]] as const) {
			await fill(name, day);
			await editor.page.keyboard.press('Enter');
		}
		expect((await editor.execute()).match(/dea_\w+/g)).toEqual([id]);
		await expectNothingRed();
	});

	test('move a deal to a stage by its name', async () => {
		const { id } = await createRecord('/v1/deals', { title: mark });
		await add('Move a deal to a stage');
		for (const [name, mode, value] of [['recordId', 'By ID', id], ['stageId', 'By Name or ID', 'Negotiation']] as const) {
			await editor.parameter(name).getByTestId('rlc-mode-selector').click();
			await editor.page.getByRole('option', { name: mode, exact: true }).filter({ visible: true }).click();
			await editor.parameter(name).locator('input').last().fill(value);
		}
		expect(await editor.execute()).toContain(id);
		await expectNothingRed();
	});

	test('see the eight fields that a form begins with where the operation is switched', async () => {
		await add('Get many records');
		await editor.choose('operation', 'Create');
		const form = editor.page.getByTestId('node-parameters');
		await form.getByTestId('add-fields-select').waitFor();
		await form.getByText('Fetching').waitFor({ state: 'detached' });
		expect(await editor.parameter('lifecycle_stage').count()).toBe(1);
		expect(await editor.parameter('avatar_url').count()).toBe(0);
	});
});
