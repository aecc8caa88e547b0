import { join, resolve } from 'node:path';
import { chromium, selectors } from 'playwright-core';
import type { Browser, Locator, Page } from 'playwright-core';
import { theWorld } from './access.ts';

/** n8n's editor names the parts of its pages by this attribute. */
selectors.setTestIdAttribute('data-test-id');

export const OUTPUT = resolve('.tmp', 'e2e');

/** `npm run pictures` puts the pictures of the documentation into docs/pictures. */
const PICTURES = process.env['PICTURES'] ?? join(OUTPUT, 'pictures');

export const pictureFile = (name: string): string => join(PICTURES, `${name}.png`);

export const FLAGS = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];

/** n8n's editor is a large program: a slow machine takes long to show its first page. */
export const TIMEOUT_MS = 60_000;

/** n8n's editor in a headless browser, used as a person uses it. */
export class Editor {
	private readonly browser: Browser;
	readonly page: Page;
	/** How often a list was opened once more because n8n was still loading it: a slow machine does that. */
	repeatedClicks = 0;

	private constructor(browser: Browser, page: Page) {
		this.browser = browser;
		this.page = page;
	}

	/** Opens a browser. Close it when the test is over. */
	static async open(): Promise<Editor> {
		const { chromium: executablePath } = theWorld();
		if (!executablePath) throw new Error('Chromium is not installed');
		// Chromium leaves things behind in the user's home, profile or not.
		const env = { ...process.env, XDG_CONFIG_HOME: join(OUTPUT, 'chromium') };
		const browser = await chromium.launch({ executablePath, args: FLAGS, env });
		const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
		page.setDefaultTimeout(TIMEOUT_MS);
		return new Editor(browser, page);
	}

	async close(): Promise<void> {
		await this.browser.close();
	}

	async signIn(): Promise<void> {
		const { n8nUrl, owner } = theWorld();
		await this.page.goto(`${n8nUrl}/signin`);
		await this.page.locator('input[name="emailOrLdapLoginId"]').fill(owner.email);
		await this.page.locator('input[name="password"]').fill(owner.password);
		await this.page.getByTestId('form-submit-button').click();
		await this.page.waitForURL((url) => !url.pathname.startsWith('/signin'));
	}

	/** Opens a workflow and, in it, a node: its parameters are on the screen afterwards. */
	async openNode(workflowId: string, nodeName: string): Promise<void> {
		await this.page.goto(`${theWorld().n8nUrl}/workflow/${workflowId}`);
		const node = this.page.locator(`[data-test-id="canvas-node"][data-node-name="${nodeName}"]`);
		await node.dblclick();
		await this.page.getByTestId('ndv').waitFor();
	}

	/** Begins an empty workflow with a trigger, and adds a node behind it, which n8n then opens. */
	async addBehindTrigger(node: string, action: string, credential: string): Promise<void> {
		await this.beginWith('Trigger manually');
		await this.addBehind(node, action);
		await this.chooseCredential(credential);
	}

	/** Begins an empty workflow: with one of n8n's own triggers, or with what a node starts workflows on. */
	async beginWith(trigger: string, event?: string): Promise<void> {
		await this.page.goto(`${theWorld().n8nUrl}/workflow/new`);
		await this.page.getByTestId('canvas-plus-button').click();
		const creator = this.page.getByTestId('node-creator');
		if (event !== undefined) await this.pickNode(trigger, event);
		else await creator.getByText(trigger).click();
	}

	/** Adds a node behind the last one. n8n opens it. */
	async addBehind(node: string, action: string): Promise<void> {
		await this.page.getByTestId('canvas-handle-plus').click();
		await this.pickNode(node, action);
	}

	private async pickNode(node: string, action: string): Promise<void> {
		const creator = this.page.getByTestId('node-creator');
		await creator.getByTestId('node-creator-search-bar').pressSequentially(node);
		await creator.getByText(node, { exact: true }).first().click();
		await creator.getByText(action, { exact: true }).click();
		await this.page.getByTestId('ndv').waitFor();
	}

	/** Chooses the credential of the open node: n8n has chosen the one that was used last, or none. */
	async chooseCredential(name: string): Promise<void> {
		await this.page.getByTestId('node-credentials-select').click();
		await this.page.getByRole('option', { name }).click();
	}

	/** One parameter of the open node, by its name in the code. */
	parameter(name: string): Locator {
		// Every text input has the test id of a parameter called `field`; parameters are no inputs.
		const named = this.page.getByTestId('node-parameters').locator(`div[data-test-id="parameter-input-${name}"]`);
		// n8n's own settings of a node are on the page as well, hidden.
		return named.filter({ visible: true });
	}

	/** Picks an entry of a dropdown parameter by what the user reads; in the given row, where it has several. */
	async choose(name: string, label: string, row = 0): Promise<void> {
		const entries = this.page.locator('li[role="option"]').filter({ visible: true });
		const entry = entries.filter({ has: this.page.getByText(label, { exact: true }) });
		const list = this.parameter(name).nth(row);
		// n8n disables a list while it loads it, and closes it when it loads it anew: a person opens it once more.
		const closed = list.locator('[role="combobox"][aria-expanded="false"]:enabled');
		for (let tries = 0; !(await entry.isVisible()); tries++) {
			if (tries > 0) this.repeatedClicks += 1;
			await list.click();
			await entry.or(closed).first().waitFor();
		}
		await entry.click();
	}

	/** Picks a record from its list, by searching for it. */
	async pickRecord(name: string, search: string): Promise<void> {
		await this.parameter(name).getByTestId('rlc-input').click();
		await this.page.getByTestId('rlc-search').fill(search);
		await this.page.getByTestId('rlc-item').filter({ hasText: search }).first().click();
	}

	/**
	 * Executes the open node once its form is complete. Returns what the output panel shows.
	 *
	 * @throws {Error} with what the output panel shows, where the node fails.
	 */
	async execute(): Promise<string> {
		// Fields that come later change the node: n8n then calls the output outdated (2.41).
		await this.page.getByTestId('node-parameters').getByText('Fetching').waitFor({ state: 'detached' });
		const output = this.page.getByTestId('output-panel');
		// n8n passes on a moment later what is typed: the execution before that is outdated, and may lack it.
		const outdated = output.getByTestId('node-run-info-stale');
		const status = output.locator('[data-test-id^="node-run-status-"]');
		for (let tries = 0; ; tries++) {
			// What an earlier execution has put out stays until this one has begun.
			const begun = this.page.waitForResponse(/\/rest\/workflows\/[^/]+\/run/);
			await this.page.getByTestId('node-execute-button').click();
			await begun;
			await status.or(outdated).first().waitFor();
			const hasFailed = await output.locator('.node-error-view').first().isVisible();
			if (tries === 1 || !hasFailed || !(await outdated.isVisible())) break;
			this.repeatedClicks += 1;
		}
		if (!(await output.getByTestId('node-run-status-success').or(outdated).first().isVisible())) {
			throw new Error(`The node has not succeeded: ${await output.innerText()}`);
		}
		// The panel is there before the data is: a table, a schema, or files.
		const data = output.locator('tbody td, [data-test-id="run-data-schema-item"], [data-test-id="ndv-download-binary-data"]');
		await data.filter({ hasText: /./ }).first().waitFor();
		const table = output.locator('table');
		return await ((await table.count()) > 0 ? table : output).innerText();
	}

	/** Saves what the browser shows under .tmp/e2e, to be looked at when a test has failed. */
	async screenshot(name: string): Promise<void> {
		const file = `${name.replaceAll(/\W+/g, '-')}.png`;
		await this.page.screenshot({ path: join(OUTPUT, file) });
	}
	/** Takes a picture of the documentation. */
	async picture(name: string, page: Page = this.page): Promise<void> {
		// A tooltip or a message, which passes after some seconds, would cover the form.
		await page.mouse.move(0, 0);
		await page.screenshot({ path: pictureFile(name), style: '.el-notification { visibility: hidden }' });
	}
}
