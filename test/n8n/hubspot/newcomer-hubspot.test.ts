import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { theN8n } from '../harness/access.ts';
import { inBrowser, useEditor } from '../harness/browser.ts';
import { countClicks, type Clicks } from '../harness/clicks.ts';
import { addEntry, setMockData } from '../harness/first-steps.ts';
import { doTask, writeComparedTasks, type TaskClicks } from '../harness/tasks.ts';
import type { Account } from './account.ts';

/**
 * The tasks of test/n8n/browser/newcomer.test.ts that n8n's own HubSpot node can do. This measures another node, so it is not
 * part of `npm test`: npx jest --config test/n8n/hubspot/jest.config.cjs
 */
inBrowser.describe('With n8n’s HubSpot node, a newcomer can', () => {
	const n8n = theN8n();
	const key = { name: 'HubSpot account', type: 'hubspotAppToken', data: { appToken: 'of the tests' } };
	const developer = {
		name: 'HubSpot app',
		type: 'hubspotDeveloperApi',
		data: {
			clientId: 'client',
			clientSecret: 'secret',
			apiKey: 'key',
			appId: '7',
			oauthTokenData: { access_token: 'token', refresh_token: 'token', token_type: 'Bearer' },
		},
	};
	const seen: TaskClicks[] = [];
	const editor = useEditor();
	let effort: Clicks;

	beforeAll(async () => {
		effort = await countClicks(editor.page);
		await n8n.createCredential(key);
		await n8n.createCredential(developer);
	});
	afterAll(() => writeComparedTasks(seen));

	function newcomer(task: string, run: () => Promise<void>): void {
		test(task, async () => {
			seen.push(await doTask(editor, effort, task, run));
		});
	}

	const account = async (): Promise<Account> => (await fetch(`${process.env['HUBSPOT_ACCOUNT']}/account`)).json() as never;
	const add = async (action: string) => await editor.addBehindTrigger('HubSpot', action, key.name);
	const click = async (text: string) => await editor.page.getByText(text, { exact: true }).filter({ visible: true }).last().click();

	/** Drags a column of the input into a parameter. */
	async function drag(column: string, name: string): Promise<void> {
		const { mouse } = editor.page;
		const pill = editor.page.locator('[data-target="mappable"]').filter({ hasText: column, visible: true });
		const center = async (of: Locator) => {
			const { x, y, width, height } = (await of.boundingBox())!;
			return [x + width / 2, y + height / 2] as const;
		};
		await editor.parameter(name).waitFor();
		await mouse.move(...(await center(pill)));
		await mouse.down();
		await mouse.move(...(await center(editor.parameter(name))), { steps: 10 });
		await mouse.up();
		await editor.parameter(name).getByText(`'${column}'`).or(editor.parameter(name).getByText(`.${column}`)).first().waitFor();
	}

	/** Leaves an expression: while it is edited, its result covers the form, and n8n has not stored all of it. */
	async function leave(name: string, result: string): Promise<void> {
		const { page } = editor;
		await page.getByTestId('output-panel').click();
		const item = page.getByTestId('parameter-item').filter({ has: page.locator(`div[data-test-id="parameter-input-${name}"]`) });
		await item.last().getByText(result, { exact: true }).waitFor();
	}

	/** Maps a column whose values need a change: switches the parameter to an expression, and types it. */
	async function express(name: string, expression: string): Promise<void> {
		const parameter = editor.page.locator(`div[data-test-id="parameter-input-${name}"]`);
		const item = editor.page.getByTestId('parameter-item').filter({ has: parameter }).last();
		await item.hover();
		await item.getByText('Expression', { exact: true }).click();
		await editor.parameter(name).locator('.cm-content').click();
		await editor.page.keyboard.insertText(`{{ ${expression} }}`);
	}

	newcomer('Create a contact', async () => {
		await add('Create or update a contact');
		await editor.fill('email', 'ada@example.com');
		await addEntry(editor, 'Add Property', 'Lifecycle Stage Name or ID');
		await editor.choose('lifeCycleStage', 'Customer');
		await editor.execute();
		const { contacts } = await account();
		expect(contacts.at(-1)?.values).toMatchObject({ email: 'ada@example.com', lifecyclestage: 'customer' });
	});

	newcomer('Find all customers of a company', async () => {
		await add('Search contacts');
		await click('Add Filter Group');
		await click('Add Filter');
		await editor.choose('propertyName', 'Primary Associated Company ID');
		await editor.fill('value', '501');
		await click('Add Filter');
		await editor.choose('propertyName', 'Lifecycle Stage', 1);
		await editor.fill('value', 'customer', 1);
		const output = await editor.execute();
		expect(output).toContain('customer@example.com');
		expect(output).not.toContain('lead@example.com');
	});

	newcomer('Import 300 rows', async () => {
		const rows = Array.from({ length: 300 }, (_, i) => ({
			Email: `${i}.import@example.com`,
			'First Name': i % 3 === 0 ? '' : 'Ada',
			'Lifecycle Stage': i % 2 === 0 ? 'Customer' : '',
		}));
		await editor.beginWith('Trigger manually');
		await setMockData(editor, rows);
		await editor.addBehind('HubSpot', 'Create or update a contact');
		await editor.chooseCredential(key.name);
		await drag('Email', 'email');
		await addEntry(editor, 'Add Property', 'First Name');
		await drag('First Name', 'firstName');
		await leave('firstName', '[empty]');
		await addEntry(editor, 'Add Property', 'Lifecycle Stage Name or ID');
		await express('lifeCycleStage', "$json['Lifecycle Stage'].toLowerCase()");
		await leave('lifeCycleStage', 'customer');
		await editor.execute();
		const imported = (await account()).contacts.filter(({ values }) => values['email']?.includes('.import@'));
		const customers = imported.filter(({ values }) => values['lifecyclestage'] === 'customer');
		expect([imported.length, customers.length]).toEqual([300, 150]);
	});

	newcomer('Move a deal', async () => {
		await add('Update a deal');
		await editor.pickRecord('dealId', 'Fleet telematics');
		await addEntry(editor, 'Add Update Field', 'Deal Stage Name or ID');
		await editor.choose('stage', 'Negotiation');
		await editor.execute();
		expect((await account()).deals[0]?.values).toMatchObject({ dealstage: 'negotiation' });
	});

	newcomer('React to a changed job title', async () => {
		await editor.beginWith('HubSpot', 'On Contact Property Changed');
		await editor.chooseCredential(developer.name);
		await editor.choose('property', 'Job Title');
		const output = editor.execute();
		await sendEvent({ subscriptionType: 'contact.propertyChange', objectId: 1, propertyName: 'jobtitle', propertyValue: 'Head' });
		expect(await output).toContain('Head');
	});

	newcomer('Export contacts', async () => {
		await add('Get many contacts');
		await editor.parameter('returnAll').locator('.el-switch').click();
		await editor.execute();
		await editor.page.keyboard.press('Escape');
		await editor.page.getByTestId('ndv').waitFor({ state: 'hidden' });
		await editor.addBehind('Convert to File', 'Convert to CSV');
		expect(await editor.execute()).toContain('.csv');
	});

	/** Sends an event once n8n has set the address for events. */
	async function sendEvent(event: object): Promise<void> {
		let target = '';
		while (!target.includes('/webhook-test/')) {
			await sleep(100);
			target = (await account()).targetUrl;
		}
		const body = JSON.stringify([event]);
		const signature = createHash('sha256').update(developer.data.clientSecret + body).digest('hex');
		const headers = { 'content-type': 'application/json', 'x-hubspot-signature': signature };
		await fetch(target, { method: 'POST', headers, body });
	}
});
