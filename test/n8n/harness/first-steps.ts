import type { Locator } from 'playwright-core';
import type { Editor } from './browser.ts';

/** Opens the only node of the canvas, pins output to it, and closes it. */
export async function setMockData({ page }: Editor, items: object[]): Promise<void> {
	await page.getByTestId('canvas-node').dblclick();
	const output = page.getByTestId('output-panel');
	await output.getByTestId('ndv-edit-pinned-data').click();
	await output.locator('.cm-content').click();
	await page.keyboard.press('ControlOrMeta+A');
	await page.keyboard.insertText(JSON.stringify(items));
	await output.getByRole('button', { name: 'Save' }).click();
	await output.getByText(`${items.length} items`).waitFor();
	await page.keyboard.press('Escape');
	await page.getByTestId('ndv').waitFor({ state: 'hidden' });
}

/** Adds an entry of a collection, such as Options, to the open node. */
export async function addEntry({ page }: Editor, button: string, entry: string): Promise<void> {
	await page.getByTestId('collection-parameter-add').filter({ has: page.getByPlaceholder(button) }).click();
	await page.getByTestId('collection-parameter-option').filter({ hasText: entry, visible: true }).click();
}

/** Begins a new credential in the open node. @returns its dialog */
export async function newCredential({ page }: Editor, type: string): Promise<Locator> {
	await page.getByTestId('node-credentials-select').click();
	await page.getByTestId('node-credentials-select-item-new').click();
	const dialog = page.getByTestId('credential-edit-dialog');
	await dialog.getByTestId('credential-mode-dropdown-trigger').click();
	await page.getByRole('menuitem', { name: type }).click();
	return dialog;
}
