import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { resources } from '../../../sandbox/core/schemas/index.ts';
import { type Sandbox, startSandbox } from '../../../sandbox/serve.ts';
import { callService } from '../../sandbox/harness/call-service.ts';
import type { Json } from '../../sandbox/harness/in-process.ts';
import { inBrowser, launchBrowser, openPage, writePicture } from '../harness/browser.ts';
import { signInToPages } from '../harness/sign-in.ts';

let sandbox: Sandbox;
let browser: Browser;
let page: Page;

beforeAll(async () => {
	sandbox = await startSandbox({ contacts: 60 });
	browser = await launchBrowser();
	// axe runs in the page, whose policy allows no scripts.
	page = await openPage(browser, { bypassCSP: true });
	await signInToPages(page, sandbox.url);
});
afterAll(async () => {
	await browser?.close();
	await sandbox?.close();
});

const names = [...resources.map(({ name }) => name), 'custom-objects/machines/records'];
const pathOf = (name: string) => `/records/${name.replaceAll('/', '.')}`;

const api = async (path: string, method = 'GET', body?: Json): Promise<Json> =>
	(await callService(sandbox.url, sandbox.apiKey, method, `/v1/${path}`, body)).body;

const firstOf = async (name: string): Promise<Json> => (await api(`${name}?limit=1`)).data[0];

// Browsers change values when they send a form: line feeds, times, empty boxes.
inBrowser.test.each(names)('a form for %s that is sent as it was opened changes nothing', async (name) => {
	const before = await firstOf(name);
	await page.goto(`${sandbox.url}${pathOf(name)}/${before.id}/edit`);
	await page.getByRole('button', { name: 'Save' }).click();
	await page.waitForURL(`**${pathOf(name)}/${before.id}`);
	expect(await firstOf(name)).toEqual(before);
});

inBrowser.test('a contact is created, found and edited by keyboard alone', async () => {
	await page.goto(`${sandbox.url}/records/contacts`);
	await page.getByRole('link', { name: 'New contact' }).press('Enter');
	await page.getByLabel('First Name').fill('Ada');
	await page.getByLabel('Company', { exact: true }).selectOption({ index: 1 });
	await page.getByRole('button', { name: 'Create contact' }).press('Enter');
	await page.getByText('needs at least one of').waitFor();
	await page.getByLabel('Last Name').fill('Lovelace');
	await page.getByRole('button', { name: 'Create contact' }).press('Enter');
	await page.getByText('contact.created', { exact: true }).waitFor();
	await page.goto(`${sandbox.url}/records/contacts`);
	await page.getByLabel('Search').fill('lovelace');
	await page.keyboard.press('Enter');
	await page.getByRole('link', { name: 'Ada Lovelace' }).press('Enter');
	await page.getByRole('link', { name: 'Edit' }).press('Enter');
	await page.getByLabel('Job Title').fill('Analyst');
	await page.keyboard.press('Enter');
	await page.getByText('contact.updated', { exact: true }).waitFor();
});

inBrowser.test.each([
	[1280, 'light', ['/', '/records/contacts', '/records/deals/{id}/edit', '/settings/api']],
	[400, 'dark', ['/records/notes/new', '/records/deals/{id}', '/events']],
] as const)('at %i pixels in %s colors, the pages are accessible', async (width, colorScheme, paths) => {
	await page.setViewportSize({ width, height: 800 });
	await page.emulateMedia({ colorScheme });
	const axe = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');
	const { id } = await firstOf('deals');
	for (const path of paths) {
		await page.goto(sandbox.url + path.replace('{id}', id));
		await page.evaluate(axe);
		const { violations } = await page.evaluate<{ violations: Json[] }>('axe.run()');
		const found = violations.map(({ id, nodes }) => [path, id, nodes[0].html]);
		const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
		expect([...found, overflow]).toEqual([0]);
	}
});

inBrowser.test('the documentation shows a contact and what happened to it', async () => {
	await page.setViewportSize({ width: 1280, height: 800 });
	await page.emulateMedia({ colorScheme: 'light' });
	const { id } = await firstOf('contacts');
	await api(`contacts/${id}`, 'PATCH', { job_title: 'Head of Purchasing', lifecycle_stage: 'customer' });
	await page.goto(`${sandbox.url}/records/contacts/${id}`);
	await page.getByText('contact.updated', { exact: true }).waitFor();
	await writePicture('sandbox', await page.screenshot());
});

inBrowser.test('the API’s documentation sends a request with a key, calls no other address, and has no errors', async () => {
	const docs = await openPage(browser, { viewport: { width: 1440, height: 900 } });
	const hosts = new Set<string>();
	const complaints: string[] = [];
	docs.on('request', (request) => void (request.url().startsWith('http') && hosts.add(new URL(request.url()).origin)));
	docs.on('pageerror', ({ message }) => complaints.push(message));
	docs.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
	await docs.goto(`${sandbox.url}/docs#tag/contacts/GET/v1/contacts`);
	const operation = docs.locator('section[id$="GET/v1/contacts"]').first();
	await operation.getByText('include_deleted').first().waitFor();
	await operation.getByRole('button', { name: 'Test Request' }).click();
	const tester = docs.getByRole('dialog');
	await tester.getByPlaceholder('Token').fill(sandbox.apiKey);
	await tester.getByRole('button', { name: 'Send', exact: false }).first().click();
	await tester.getByText('200 OK').first().waitFor();
	expect([...hosts]).toEqual([sandbox.url]);
	expect(complaints).toEqual([]);
});
