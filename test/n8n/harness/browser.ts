import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { chromium, selectors } from 'playwright-core';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { until } from '../../support/until.ts';
import { theWorld } from './access.ts';

/** n8n's editor names the parts of its pages by this attribute. */
selectors.setTestIdAttribute('data-test-id');

export const outputFolder = resolve('.tmp', 'e2e');

/** `npm test -- --pictures` puts the pictures of the documentation into docs/pictures. */
const picturesFolder = process.env['PICTURES'] ?? join(outputFolder, 'pictures');

export async function writePicture(name: string, png: Buffer): Promise<void> {
	await mkdir(picturesFolder, { recursive: true });
	await writeFile(join(picturesFolder, `${name}.png`), png);
}

const chromiumFlags = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];

/** A slow machine takes long to show the first page of n8n's editor. */
const timeoutMs = 180_000;

/** How long to wait for a node to open. */
const openTimeoutMs = 10_000;

/** How often to reopen a list that closes again. */
const maxTries = 30;

/** `SLOW_BROWSER=6` makes pages six times slower, to find tests that depend on which of two things comes first. */
const slowness = Number(process.env['SLOW_BROWSER'] ?? 1);

/** Without a browser, the tests that need one are skipped. */
export const inBrowser = theWorld().chromium ? { describe, test } : { describe: describe.skip, test: test.skip };

function launchOptions() {
	const { chromium: executablePath } = theWorld();
	if (!executablePath) throw new Error('Chromium is not installed');
	// Even with its own profile, Chromium writes to the user's home folder.
	const env = { ...process.env, XDG_CONFIG_HOME: join(outputFolder, 'chromium') };
	return { executablePath, args: chromiumFlags, env };
}

/** Opens a browser. Close it when the test is over. */
export const launchBrowser = async (): Promise<Browser> => await chromium.launch(launchOptions());

/** Opens an empty page with its own profile. */
export const openPage = async (browser: Browser, options: BrowserContextOptions = {}) => await pageIn(await browser.newContext(options));

async function pageIn(context: BrowserContext): Promise<Page> {
	context.setDefaultTimeout(timeoutMs);
	const page = await context.newPage();
	if (slowness > 1) await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: slowness });
	return page;
}

/** Whether a parameter of the open node has a text as its value. Runs in the page. */
const hasValue = `(text) => {
	const { $pinia } = document.querySelector('#app').__vue_app__.config.globalProperties;
	const has = (value) => typeof value === 'object' && value !== null
		? Object.entries(value).some(([name, one]) => name !== 'schema' && has(one))
		: String(value).replace('T', ' ').startsWith(text);
	return [...$pinia._s].some(([name, store]) => name.startsWith('ndv') && has(store.activeNode?.parameters));
}`;

/** Goes to another page of the editor that is open. Runs in the page. */
const goWithin = `(path) => document.querySelector('#app').__vue_app__.config.globalProperties.$router.push(path)`;

/** n8n's editor in a headless browser, used as a signed-in person uses it. */
export class Editor {
	private context: BrowserContext | undefined;
	page!: Page;
	/** How often a list was reopened because n8n was still loading it, as on a slow machine. */
	repeatedClicks = 0;

	async open(): Promise<void> {
		const { n8nUrl, session: { cookie, browserId } } = theWorld();
		const view = { viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' as const };
		// A worker's test files share only the cache, since loading and compiling n8n's editor takes seconds.
		const profile = join(outputFolder, `profile-${process.env['JEST_WORKER_ID']}`);
		const context = await chromium.launchPersistentContext(profile, { ...launchOptions(), ...view });
		this.context = context;
		this.page = await pageIn(context);
		await context.clearCookies();
		const devTools = await context.newCDPSession(this.page);
		await devTools.send('Storage.clearDataForOrigin', { origin: n8nUrl, storageTypes: 'all' });
		// Signs in without the form: n8n refuses more than five sign-ins a minute.
		const [name = '', value = ''] = cookie.split('=');
		await context.addCookies([{ name, value, url: n8nUrl }]);
		await context.addInitScript(`if (location.origin === '${n8nUrl}') localStorage.setItem('n8n-browserId', '${browserId}');`);
	}

	async close(): Promise<void> {
		await this.context?.close();
	}

	/**
	 * Goes to a page of the editor, as its links do: the editor, which takes seconds to load, is loaded once.
	 * It learns too late for a node that opens of credentials that n8n's interface has created since.
	 */
	async goTo(path: string): Promise<void> {
		const { n8nUrl } = theWorld();
		if (!this.page.url().startsWith(n8nUrl)) return void (await this.page.goto(`${n8nUrl}${path}`));
		await this.page.evaluate(`(${goWithin})(${JSON.stringify(path)})`);
		// The node that was open closes a moment later.
		await this.page.getByTestId('ndv').waitFor({ state: 'hidden' });
	}

	/** Opens a node of a workflow. */
	async openNode(workflowId: string, nodeName: string): Promise<void> {
		await this.goTo(`/workflow/${workflowId}`);
		const node = this.page.locator(`[data-test-id="canvas-node"][data-node-name="${nodeName}"]`);
		const opened = this.page.getByTestId('ndv');
		await until(async () => {
			// n8n draws nodes before they can be opened, and may move them between two clicks. A person clicks again.
			if (!(await opened.isVisible())) await node.dblclick({ timeout: openTimeoutMs }).catch(() => undefined);
			return await opened.waitFor({ timeout: openTimeoutMs }).then(() => true, () => false);
		});
	}

	/** Begins an empty workflow with a trigger, and adds a node behind it, which n8n then opens. */
	async addBehindTrigger(node: string, action: string, credential: string): Promise<void> {
		await this.beginWith('Trigger manually');
		await this.addBehind(node, action);
		await this.chooseCredential(credential);
	}

	/** Begins an empty workflow with one of n8n's own triggers, or with an event of a node. */
	async beginWith(trigger: string, event?: string): Promise<void> {
		await this.goTo('/workflow/new');
		await this.page.getByTestId('canvas-plus-button').click();
		if (event !== undefined) await this.pickNode(trigger, event);
		else await this.page.getByTestId('node-creator').getByText(trigger).click();
	}

	/** Adds a node behind the last one. n8n opens it. */
	async addBehind(node: string, action: string): Promise<void> {
		await this.page.getByTestId('canvas-handle-plus').click();
		await this.pickNode(node, action);
	}

	private async pickNode(node: string, action: string): Promise<void> {
		const creator = this.page.getByTestId('node-creator');
		await creator.getByTestId('node-creator-search-bar').fill(node);
		await creator.getByText(node, { exact: true }).first().click();
		await creator.getByText(action, { exact: true }).click();
		await this.page.getByTestId('ndv').waitFor();
	}

	/** Chooses the credential of the open node: n8n has chosen the one that was used last, or none. */
	async chooseCredential(name: string): Promise<void> {
		await this.pick(this.page.getByTestId('node-credentials-select'), name);
	}

	/** One parameter of the open node, by its name in the code. */
	parameter(name: string): Locator {
		// Every text input has the test ID of a parameter called `field`, but only parameters are div elements.
		const named = this.page.getByTestId('node-parameters').locator(`div[data-test-id="parameter-input-${name}"]`);
		// n8n's own settings of a node are on the page as well, hidden.
		return named.filter({ visible: true });
	}

	/** Picks an entry of a dropdown parameter by its label. */
	async choose(name: string, label: string, row = 0): Promise<void> {
		await this.pick(this.parameter(name).nth(row), label);
	}

	/** Picks an entry of a dropdown by its label. */
	async pick(list: Locator, label: string): Promise<void> {
		// A list that allows several choices has two boxes for one list of entries.
		const box = list.locator('[role="combobox"]').first();
		const closed = list.locator('[role="combobox"][aria-expanded="false"]:enabled');
		for (let tries = 0; ; tries++) {
			// Only the list of this parameter: another one may still be closing.
			const entries = this.page.locator(`[id="${await box.getAttribute('aria-controls')}"] li[role="option"]`);
			const entry = entries.filter({ has: this.page.getByText(label, { exact: true }), visible: true });
			if (tries > 0 && (tries === maxTries || (await entry.isVisible()))) return await entry.click();
			// n8n disables a list while it loads, and closes it when it loads again. A person reopens it.
			if (tries > 0) this.repeatedClicks += 1;
			await list.click();
			await entry.or(closed).first().waitFor();
		}
	}

	/** Picks a record from its list, by searching for it. */
	async pickRecord(name: string, search: string): Promise<void> {
		await this.parameter(name).getByTestId('rlc-input').click();
		await this.page.getByTestId('rlc-search').fill(search);
		await this.page.getByTestId('rlc-item').filter({ hasText: search }).first().click();
		await this.page.getByTestId('rlc-search').waitFor({ state: 'hidden' });
	}

	/** Types into a parameter of the open node. */
	async fill(name: string, text: string, row = 0): Promise<void> {
		const box = this.parameter(name).nth(row).locator('input').last();
		await box.fill(text);
		// A date counts as soon as Enter is pressed.
		if (/^\d{4}-\d\d-\d\d/.test(text)) await box.press('Enter');
		// n8n stores typed text 200 to 400 ms later (2.41). A node that is executed earlier lacks it.
		await this.page.waitForFunction(`(${hasValue})(${JSON.stringify(text)})`);
	}

	/**
	 * Executes the open node once its form is complete.
	 *
	 * @returns the text of the output panel
	 * @throws {Error} with the text of the output panel if the node fails
	 */
	async execute(): Promise<string> {
		// Fields that come later change the node: n8n then calls the output outdated (2.41).
		await this.page.getByTestId('node-parameters').getByText('Fetching').waitFor({ state: 'detached' });
		const output = this.page.getByTestId('output-panel');
		const statuses = '[data-test-id^="node-run-status-"], [data-test-id="node-run-info-stale"]';
		// The status of an earlier execution stays until the panel is redrawn, which takes time on a slow machine.
		await output.locator(statuses).evaluateAll((elements) => elements.forEach((element) => element.setAttribute('data-earlier', '')));
		await Promise.all([this.page.waitForResponse(/\/rest\/workflows\/[^/]+\/run/), this.page.getByTestId('node-execute-button').click()]);
		const ofThisExecution = output.locator(':not([data-earlier])');
		const done = output.locator('[data-test-id="node-run-status-success"], [data-test-id="node-run-info-stale"]').and(ofThisExecution);
		const refused = this.page.locator('.el-notification').filter({ hasText: 'cannot start' });
		await output.locator(statuses).and(ofThisExecution).or(refused).first().waitFor();
		if (!(await done.first().isVisible()) || (await output.locator('.node-error-view').first().isVisible())) {
			const [why = ''] = await refused.allInnerTexts();
			throw new Error(`The node has not succeeded: ${why}${await output.innerText()}`);
		}
		// The panel appears before its data: a table, a schema, or files.
		const data = output.locator('tbody td, [data-test-id="run-data-schema-item"], [data-test-id="ndv-download-binary-data"]');
		await data.filter({ hasText: /./ }).first().waitFor();
		const table = output.locator('table');
		return await ((await table.count()) > 0 ? table : output).innerText();
	}

	/** The errors that n8n shows: invalid values of the form, or messages after a click. */
	async complaints(): Promise<string[]> {
		const red = this.page.locator('[data-test-id="parameter-issues"], .el-notification--error');
		return await red.filter({ visible: true }).allInnerTexts();
	}

	/** Saves a screenshot under .tmp/e2e, for the analysis of failed tests. */
	async screenshot(name = 'unnamed'): Promise<void> {
		const file = `${name.replaceAll(/\W+/g, '-')}.png`;
		await this.page?.screenshot({ path: join(outputFolder, file) });
	}

	/** Takes a picture of the documentation. */
	async picture(name: string, page: Page = this.page): Promise<void> {
		await writePicture(name, await this.frame(page));
	}

	/** A picture of what is shown now, as a PNG. */
	async frame(page: Page = this.page): Promise<Buffer> {
		// A tooltip or a message that disappears after some seconds would cover the form.
		await page.mouse.move(0, 0);
		return await page.screenshot({ style: '.el-notification { visibility: hidden }' });
	}
}

/** One editor for all tests of a file. */
export function useEditor(): Editor {
	const editor = new Editor();
	beforeAll(async () => await editor.open());
	afterEach(async () => await editor.screenshot(expect.getState().currentTestName));
	afterAll(async () => await editor.close());
	return editor;
}
