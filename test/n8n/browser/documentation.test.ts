import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { theWorld } from '../harness/access.ts';
import { inBrowser, launchBrowser, openPage, outputFolder } from '../harness/browser.ts';

const { sandboxUrl, apiKey } = theWorld();

inBrowser.describe('The documentation in a browser', () => {
	let browser: Browser;
	let page: Page;
	/** The URLs of all requests of the browser. */
	const requests: string[] = [];
	const complaints: string[] = [];

	beforeAll(async () => {
		browser = await launchBrowser();
		page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
		page.on('request', (request) => requests.push(request.url()));
		page.on('pageerror', ({ message }) => complaints.push(message));
		page.on('console', (message) => {
			if (message.type() === 'error') complaints.push(message.text());
		});
		await page.goto(`${sandboxUrl}/docs#tag/contacts/GET/v1/contacts`);
	});

	afterEach(async () => {
		await page.screenshot({ path: join(outputFolder, `${expect.getState().currentTestName}.png`) });
	});

	afterAll(async () => {
		await browser?.close();
	});

	const operation = () => page.locator('section[id$="GET/v1/contacts"]').first();

	test('shows an operation with its parameters and its schema', async () => {
		await operation().getByText('include_deleted').first().waitFor();
		await operation().getByText('Show Schema').click();
		await operation().getByText('One page of contacts.').first().waitFor();
	});

	test('has code samples in six languages only', async () => {
		await operation().getByRole('button', { name: 'Shell cURL' }).click();
		await page.getByRole('option').first().waitFor();
		const offered = (await page.getByRole('listbox').innerText()).split('\n');
		const samples = ['Go', 'NewRequest', 'Node.js', 'Fetch', 'undici', 'PHP', 'Guzzle'];
		samples.push('Python', 'http.client', 'Requests', 'Ruby', 'net::http', 'Shell', 'cURL');
		expect(offered.map((line) => line.trim()).filter(Boolean)).toEqual(samples);
		await page.keyboard.press('Escape');
	});

	test('shows all languages except Go at first', async () => {
		const tabs = page.locator('.client-libraries-list').getByRole('tab');
		await tabs.first().waitFor();
		const names = (await tabs.allInnerTexts()).map((name) => name.trim());
		expect(names.sort()).toEqual(['Node.js', 'PHP', 'Python', 'Ruby', 'Shell']);
	});

	test('sends a request with an API key, and shows the answer', async () => {
		await operation().getByRole('button', { name: 'Test Request' }).click();
		const tester = page.getByRole('dialog');
		await tester.getByPlaceholder('Token').fill(apiKey);
		const answered = page.waitForResponse((response) => response.url().includes('/v1/contacts'));
		await tester.getByRole('button', { name: 'Send', exact: false }).first().click();

		const response = await answered;
		expect(response.status()).toBe(200);
		expect((await response.json()).data).toHaveLength(50);
		await tester.getByText('200 OK').first().waitFor();
	});

	test('sends requests to the sandbox and no other address, and has no errors', () => {
		const elsewhere = requests.filter((url) => !/^(data|blob):/.test(url));
		const hosts = new Set(elsewhere.map((url) => new URL(url).origin));
		expect([...hosts]).toEqual([sandboxUrl]);
		expect(complaints).toEqual([]);
	});
});
