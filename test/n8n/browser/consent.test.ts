import { createServer } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { demoMembers } from '../../../sandbox/seed/demo-members.ts';
import { type Sandbox, startSandbox } from '../../../sandbox/serve.ts';
import { listen } from '../../support/listen.ts';
import { inBrowser, launchBrowser, openPage } from '../harness/browser.ts';

/** The application that requests access, at its own address. */
const application = createServer((_, response) => response.end('Connected'));
let redirectUri: string;
let sandbox: Sandbox;
let browser: Browser;

beforeAll(async () => {
	redirectUri = `${await listen(application)}/callback`.replace('127.0.0.1', 'localhost');
	sandbox = await startSandbox({ contacts: 0 });
});
afterAll(async () => {
	await browser?.close();
	await sandbox?.close();
	application.close();
});

/** An empty page, and everything that its content security policy refuses from now on. */
async function watchedPage(): Promise<{ page: Page; refused: string[] }> {
	browser = await launchBrowser();
	const page = await openPage(browser);
	const refused: string[] = [];
	page.on('console', (message) => {
		if (message.text().includes('Content Security Policy')) refused.push(message.text());
	});
	return { page, refused };
}

async function signIn(page: Page): Promise<void> {
	const { email, password } = demoMembers[0]!;
	// The box is on the page a moment before it has the focus.
	await page.locator('input[name="email"]:focus').waitFor();
	await page.keyboard.type(email);
	await page.keyboard.press('Tab');
	await page.keyboard.type(password);
	await page.keyboard.press('Enter');
}

inBrowser.test('in a real browser, by keyboard, a client is made, allowed, denied and deleted', async () => {
	const { page, refused } = await watchedPage();
	await page.goto(`${sandbox.url}/settings/api`);
	await signIn(page);
	await page.getByLabel('Name of a new client').fill('An application');
	await page.getByLabel('Redirect addresses').fill(redirectUri);
	await page.getByLabel('No, it runs on').press('Space');
	await page.getByRole('button', { name: 'Create OAuth client' }).press('Enter');
	const clientId = await page.getByRole('status').locator('code').innerText();

	const query = new URLSearchParams({
		response_type: 'code',
		client_id: clientId,
		redirect_uri: redirectUri,
		code_challenge: 'x'.repeat(43),
		code_challenge_method: 'S256',
	});
	for (const [button, answer] of [['Allow', 'code'], ['Deny', 'error']] as const) {
		await page.goto(`${sandbox.url}/oauth/authorize?${query}`);
		await page.getByText('Contacts: read').waitFor();
		await page.getByRole('button', { name: button }).press('Enter');
		await page.waitForURL(`${redirectUri}?*`);
		expect(new URL(page.url()).searchParams.get(answer)).toBeTruthy();
	}

	await page.goto(`${sandbox.url}/settings/api`);
	await page.getByLabel('Delete An application').press('Enter');
	await page.getByRole('button', { name: 'Delete permanently' }).press('Enter');
	await page.getByText(clientId).waitFor({ state: 'detached' });
	expect(refused).toEqual([]);
});
