import { join, resolve } from 'node:path';
import { chromium, selectors } from 'playwright-core';
import type { Browser, Locator, Page } from 'playwright-core';
import { theWorld } from './access.ts';

/** n8n's editor names the parts of its pages by this attribute. */
selectors.setTestIdAttribute('data-test-id');

export const OUTPUT = resolve('.tmp', 'e2e');

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
		const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
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

	/** One parameter of the open node, by its name in the code. */
	parameter(name: string): Locator {
		const named = this.page.getByTestId('node-parameters').getByTestId(`parameter-input-${name}`);
		// n8n's own settings of a node are on the page as well, hidden.
		return named.filter({ visible: true });
	}

	/** Picks an entry of a dropdown parameter by what the user reads. */
	async choose(name: string, label: string): Promise<void> {
		const entries = this.page.getByTestId('parameter-input-item').filter({ visible: true });
		const entry = entries.filter({ has: this.page.getByText(label, { exact: true }) });
		// A list that n8n is still loading stays closed, or is closed again: a person opens it once more.
		const end = Date.now() + TIMEOUT_MS;
		while (!(await entry.isVisible()) && Date.now() < end) {
			await this.parameter(name).click();
			await entry.waitFor({ timeout: 3_000 }).catch(() => undefined);
		}
		await entry.click();
	}

	/** Picks a record from its list, by searching for it. */
	async pickRecord(name: string, search: string): Promise<void> {
		await this.parameter(name).getByTestId('rlc-input').click();
		await this.page.getByTestId('rlc-search').fill(search);
		await this.page.getByTestId('rlc-item').filter({ hasText: search }).first().click();
	}

	/** Executes the open node until it has succeeded. Returns what the output panel shows. */
	async execute(): Promise<string> {
		await this.page.getByTestId('node-execute-button').click();
		const output = this.page.getByTestId('output-panel');
		await output.getByTestId('node-run-status-success').waitFor();
		// The panel is there before the data is.
		await output.locator('tbody td').filter({ hasText: /./ }).first().waitFor();
		return await output.locator('table').innerText();
	}

	/** Saves what the browser shows under .tmp/e2e, to be looked at when a test has failed. */
	async screenshot(name: string): Promise<void> {
		const file = `${name.replaceAll(/\W+/g, '-')}.png`;
		await this.page.screenshot({ path: join(OUTPUT, file) });
	}
}
