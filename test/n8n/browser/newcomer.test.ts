import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { INodeCredentials } from 'n8n-workflow';
import { signInCallback } from '../../../demo/n8n-environment.ts';
import { type Sandbox, startSandbox } from '../../../sandbox/serve.ts';
import { until } from '../../support/until.ts';
import { sandboxCredential, theN8n, theWorld } from '../harness/access.ts';
import { closeNode } from '../harness/agent-canvas.ts';
import { inBrowser, useEditor } from '../harness/browser.ts';
import { countClicks, type Clicks } from '../harness/clicks.ts';
import { addEntry, newCredential, setMockData } from '../harness/first-steps.ts';
import { runN8nNode, triggerName, workflowWith } from '../harness/run-n8n-node.ts';
import { callSandbox, createRecord, testWebhooks } from '../harness/sandbox-calls.ts';
import { signIn } from '../harness/sign-in.ts';
import { doTask, documentedTasks, writeTasks, type TaskClicks } from '../harness/tasks.ts';

/** Ten typical first tasks, each on an empty canvas. */
inBrowser.describe('Without opening a node twice and without a red message, a newcomer can', () => {
	const n8n = theN8n();
	const credential = sandboxCredential();
	const documented = documentedTasks();
	const seen: TaskClicks[] = [];
	const mark = randomUUID();
	const editor = useEditor();
	let effort: Clicks;
	let credentials: INodeCredentials;

	beforeAll(async () => {
		effort = await countClicks(editor.page);
		credentials = { crmPlatformApi: { id: await n8n.createCredential(credential), name: credential.name } };
	});
	afterAll(() => writeTasks(seen));

	/** Tests that a task takes no more clicks than the documentation says. */
	function newcomer(task: string, run: () => Promise<void>): void {
		test(task, async () => {
			const done = await doTask(editor, effort, task, run);
			expect(await editor.complaints()).toEqual([]);
			seen.push(done);
			expect(done.clicks).toBeLessThanOrEqual(documented.get(task)?.clicks ?? 0);
		});
	}

	const add = async (action: string) => await editor.addBehindTrigger('CRM Platform', action, credential.name);
	const click = async (text: string) => await editor.page.getByText(text, { exact: true }).click();

	newcomer('Create a contact', async () => {
		await add('Create contact');
		await editor.fill('email', `${mark}@example.com`);
		await editor.choose('lifecycle_stage', 'Customer');
		expect(await editor.execute()).toContain(mark);
	});

	newcomer('Find all customers of a company', async () => {
		const { id: company_id } = await createRecord('/v1/companies', { name: `Acme ${mark}` });
		const { id } = await createRecord('/v1/contacts', { last_name: 'Moreno', lifecycle_stage: 'customer', company_id });
		await createRecord('/v1/contacts', { last_name: 'Weiss', lifecycle_stage: 'lead', company_id });
		await add('Get many contacts');
		await click('Add filter');
		await editor.choose('field', 'Lifecycle Stage');
		await editor.fill('value', 'Customer');
		await click('Add filter');
		await editor.choose('field', 'Company', 1);
		// A name that is a UUID alone would be an ID.
		await editor.fill('value', `Acme ${mark}`, 1);
		const output = await editor.execute();
		expect(output.match(/con_\w+/g)).toEqual([id]);
	});

	newcomer('Import 300 rows', async () => {
		const rows = Array.from({ length: 300 }, (_, i) => ({
			Email: `${i}.${mark}@rows.example`,
			'First Name': i % 3 === 0 ? '' : 'Ada',
			'Lifecycle Stage': i % 2 === 0 ? 'Customer' : '',
		}));
		await editor.beginWith('Trigger manually');
		await setMockData(editor, rows);
		await editor.addBehind('CRM Platform', 'Create or update contact');
		await editor.chooseCredential(credential.name);
		await editor.choose('fieldsMode', 'Map Automatically');
		await editor.execute();
		const countWritten = async (query: string) => (await callSandbox('GET', `/v1/contacts?email[contains]=${mark}@rows${query}`)).body.total;
		expect([await countWritten(''), await countWritten('&lifecycle_stage=customer'), await countWritten('&first_name=Ada')]).toEqual([
			300, 150, 200,
		]);
	});

	newcomer('Move a deal', async () => {
		const { id } = await createRecord('/v1/deals', { title: mark });
		await add('Move deal to stage');
		await editor.pickRecord('recordId', mark);
		await editor.pickRecord('stageId', 'Negotiation');
		expect(await editor.execute()).toContain(id);
	});

	newcomer('Answer a ticket', async () => {
		const { id } = await createRecord('/v1/tickets', { subject: mark });
		await add('Send message');
		await editor.choose('channel', 'Email');
		await editor.fill('to', 'ada@example.com');
		await editor.fill('text', 'It is on its way.');
		await click('Add record');
		await editor.choose('field', 'Ticket');
		await editor.pickRecord('record', mark);
		await editor.execute();
		expect((await callSandbox('GET', `/v1/messages?ticket_id=${id}`)).body.total).toBe(1);
	});

	newcomer('Schedule a message', async () => {
		await add('Schedule message');
		await editor.choose('channel', 'Email');
		await editor.fill('to', 'ada@example.com');
		await editor.fill('scheduled_at', '2030-01-31 10:00:00');
		await editor.fill('text', mark);
		expect(await editor.execute()).toContain('scheduled');
	});

	newcomer('React to a changed job title', async () => {
		const { id } = await createRecord('/v1/contacts', { last_name: 'Moreno', job_title: 'Driver' });
		await editor.beginWith('CRM Platform', 'On new CRM Platform event');
		await editor.chooseCredential(credential.name);
		await editor.choose('events', 'Contact Updated');
		await editor.page.getByTestId('output-panel').click();
		await addEntry(editor, 'Add filter', 'Changed Field Names or IDs');
		await editor.choose('changedFields', 'Job Title');
		await editor.page.getByTestId('output-panel').click();
		const happen = async () => {
			await until(async () => (await testWebhooks()).length > 0);
			await callSandbox('PATCH', `/v1/contacts/${id}`, { first_name: 'Ada' });
			await callSandbox('PATCH', `/v1/contacts/${id}`, { job_title: 'Head of Sales' });
		};
		const [output] = await Promise.all([editor.execute(), happen()]);
		expect(output).toContain('Head of Sales');
	});

	newcomer('Poll for won deals', async () => {
		const { id } = await createRecord('/v1/deals', { title: mark });
		await callSandbox('POST', `/v1/deals/${id}/win`, {});
		await editor.beginWith('CRM Platform Poll Trigger', 'Add to workflow');
		await editor.chooseCredential(credential.name);
		await editor.choose('events', 'Deal Won');
		await editor.page.getByTestId('output-panel').click();
		expect(await editor.execute()).toContain(mark);
	});

	newcomer('Export contacts', async () => {
		await add('Export records to file');
		expect(await editor.execute()).toContain('contacts.csv');
	});

	newcomer('Undo a wrong import', async () => {
		const people = Array.from({ length: 12 }, (_, i) => ({
			email: `${i}.${mark}@undo.example`, first_name: `Ada ${i}`, last_name: 'Moreno',
		}));
		for (const person of people.slice(1)) await createRecord('/v1/contacts', person);
		const contacts = async () => {
			const { body } = await callSandbox('GET', `/v1/contacts?email[contains]=${mark}@undo&fields=email,first_name,last_name&sort=created_at`);
			return body.data.map(({ email, first_name, last_name }) => ({ email, first_name, last_name }));
		};
		const before = await contacts();
		const input = people.map(({ email, first_name, last_name }) => ({ email, first_name: last_name, last_name: first_name }));
		const fields = { mappingMode: 'autoMapInputData', value: null };
		const parameters = { resource: 'contact', operation: 'upsert', fieldsMatchOn: 'email', fields };
		const wrong = await n8n.createWorkflow(workflowWith({ credentials, parameters, input }));
		const execution = await n8n.startWorkflow(wrong, triggerName);
		expect(await n8n.waitForExecution(execution)).toMatchObject({ status: 'success' });
		const after = await contacts();
		expect(after).toEqual([...input.slice(1), input[0]]);

		await add('Undo changes');
		await editor.pickRecord('undoId', `${execution} – 12 changes`);
		expect(await editor.execute()).toContain('to_be_undone');
		expect(await contacts()).toEqual(after);
		await editor.picture('undo');
		await editor.parameter('preview').locator('.el-switch').click();
		const output = editor.page.getByTestId('output-panel');
		await editor.execute();
		await output.getByText('to_be_undone').first().waitFor({ state: 'detached' });
		expect(await contacts()).toEqual(before);
	});

	newcomer('Merge duplicates, and take it back', async () => {
		const [first, second] = [`1.${mark}@twin.example`, `2.${mark}@twin.example`];
		const twin = async (...emails: string[]) =>
			(await createRecord('/v1/contacts', { last_name: 'Twin', emails: emails.map((value, i) => ({ value, primary: i === 0 })) })).id;
		const twins = [await twin(first), await twin(second, first)];
		const addresses = async () => {
			const { body } = await callSandbox('GET', `/v1/contacts?email[contains]=${mark}@twin&fields=email&sort=created_at`);
			return body.data.map(({ email }) => email);
		};
		const addNext = async (node: string, action: string) => {
			await editor.page.getByTestId('ndv-close-button').click();
			await editor.addBehind(node, action);
			await editor.chooseCredential(credential.name);
		};
		await editor.addBehindTrigger('CRM Platform Duplicates', 'Find duplicate contacts', credential.name);
		await editor.choose('sameFields', 'Email');
		await editor.page.getByTestId('output-panel').click();
		expect(new Set((await editor.execute()).match(/con_\w+/g))).toEqual(new Set(twins));
		await addNext('CRM Platform Duplicates', 'Merge duplicate contacts');
		expect(await editor.execute()).toContain('to_be_merged');
		await editor.parameter('preview').locator('.el-switch').click();
		await editor.execute();
		expect(await addresses()).toEqual([first]);
		const hint = await editor.page.getByText(/An Execution → \d+/).first().innerText();
		await addNext('CRM Platform', 'Undo changes');
		await editor.pickRecord('undoId', `${/\d+(?=\.)/.exec(hint.slice(hint.indexOf('→ An')))![0]} – `);
		expect(await editor.execute()).toContain('to_be_undone');
		await editor.parameter('preview').locator('.el-switch').click();
		await editor.execute();
		expect(await addresses()).toEqual([first, second]);
	});

	test('set up a sync, look at its preview, and run it', async () => {
		const email = (name: string) => `${name}.${mark}@sync.example`;
		await createRecord('/v1/contacts', { email: email('same'), last_name: 'Moreno' });
		await createRecord('/v1/contacts', { email: email('other'), last_name: 'Weiss' });
		const rows = ['same', 'other', 'new'].map((name) => ({ email: email(name), last_name: 'Moreno' }));
		const names = async () => {
			const { body } = await callSandbox('GET', `/v1/contacts?email[contains]=${mark}@sync&fields=last_name`);
			return body.data.map(({ last_name: name }) => name);
		};
		await editor.beginWith('Trigger manually');
		await setMockData(editor, rows);
		await editor.addBehind('CRM Platform Sync', 'Add to workflow');
		await editor.chooseCredential(credential.name);
		await editor.page.getByTestId('ndv').getByText('CRM Platform Sync', { exact: true }).filter({ visible: true }).first().waitFor();
		expect(await editor.parameter('bothChanged').count()).toBe(0);
		await editor.choose('matchOn', 'Email');
		await editor.choose('fieldsMode', 'Map Automatically');
		const before = await names();
		expect(before).toEqual(['Moreno', 'Weiss']);
		await editor.execute();
		const outputs = editor.page.getByTestId('output-panel');
		for (const output of ['Created', 'Updated', 'Unchanged']) await outputs.getByText(`${output} Branch`).first().waitFor();
		expect(await names()).toEqual(before);
		await editor.parameter('preview').locator('.el-switch').click();
		await editor.execute();
		expect(await editor.complaints()).toEqual([]);
		expect(await names()).toEqual(['Moreno', 'Moreno', 'Moreno']);
	});

	test('move in with the files of another CRM in twelve clicks to the preview and two to the run, and take it back', async () => {
		const total = async (path: string, filter: string) => (await callSandbox('GET', `/v1/${path}?limit=1${filter}`)).body.total;
		const totals = async (filter = '') => await Promise.all(['companies', 'contacts', 'deals'].map((path) => total(path, filter)));
		const moved = '&external_id[starts_with]=salesforce:';
		const before = await totals();
		const toPreview = await doTask(editor, effort, 'preview', async () => {
			await editor.beginWith('Trigger manually');
			await editor.addBehind('Read/Write Files from Disk', 'Read File(s) From Disk');
			await editor.fill('fileSelector', resolve('test/support/exports/salesforce-*.csv'));
			await closeNode(editor);
			await editor.addBehind('CRM Platform', 'Import related files');
			await editor.chooseCredential(credential.name);
			await editor.fill('sourceName', 'salesforce');
			expect(await editor.execute()).toContain('By the name of the file');
		});
		expect(await totals()).toEqual(before);
		const toRun = await doTask(editor, effort, 'run', async () => {
			await editor.parameter('preview').locator('.el-switch').click();
			await editor.execute();
		});
		expect(toPreview.clicks).toBeLessThanOrEqual(12);
		expect(toRun.clicks).toBeLessThanOrEqual(2);
		expect(await totals(moved)).toEqual([2, 2, 2]);
		const undoId = (await n8n.listExecutions(/workflow\/(\w+)/.exec(editor.page.url())![1]!)).at(-1)!;
		const parameters = { resource: 'change', operation: 'undo', preview: false, undoOf: 'execution', undoId };
		expect((await runN8nNode(n8n, { credentials, parameters })).status).toBe('success');
		expect([await totals(), await totals(moved)]).toEqual([before, [0, 0, 0]]);
	});

	describe('with a service of its own', () => {
		let service: Sandbox;
		beforeAll(async () => {
			const redirectUri = signInCallback(Number(new URL(theWorld().n8nUrl).port));
			service = await startSandbox({ contacts: 5, oauthClient: { id: 'cli_newcomer', name: 'n8n', redirectUri } });
		});
		afterAll(async () => await service?.close());

		newcomer('Connect by OAuth2', async () => {
			await editor.beginWith('Trigger manually');
			await editor.addBehind('CRM Platform', 'Get many contacts');
			const dialog = await newCredential(editor, 'OAuth2');
			await dialog.locator('[data-test-id="parameter-input-baseUrl"] input').fill(service.url);
			await dialog.locator('[data-test-id="parameter-input-clientId"] input').fill('cli_newcomer');
			const window = await signIn(editor, dialog);
			await window.getByRole('button', { name: 'Allow' }).click();
			// n8n closes a credential that was begun in a node as soon as it is connected.
			await dialog.waitFor({ state: 'hidden' });
			expect(await editor.execute()).toMatch(/con_\w+/);
		});
	});
});
