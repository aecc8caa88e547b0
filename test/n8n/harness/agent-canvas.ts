import type { Editor } from './browser.ts';

/** Begins an empty workflow with an agent. n8n adds a chat trigger. */
export async function beginWithAgent(editor: Editor): Promise<void> {
	await editor.goTo('/workflow/new');
	await editor.page.getByTestId('canvas-plus-button').click();
	await pick(editor, 'AI Agent');
	await closeNode(editor);
}

/** Adds a node with the plus sign of one of the agent's inputs. n8n opens the node. */
export async function addBelowAgent(
	editor: Editor, input: string, node: string, { search = node, seen }: { search?: string; seen?: () => Promise<void> } = {},
): Promise<void> {
	const handle = editor.page.locator(`[data-test-id="canvas-node-input-handle"][data-connection-type="${input}"]`);
	await handle.getByTestId('canvas-handle-plus').click();
	await pick(editor, node, search, seen);
}

async function pick({ page }: Editor, node: string, search = node, seen?: () => Promise<void>): Promise<void> {
	const creator = page.getByTestId('node-creator');
	await creator.getByTestId('node-creator-search-bar').fill(search);
	const entry = creator.getByText(node, { exact: true }).first();
	await entry.waitFor();
	await seen?.();
	await entry.click();
	await page.getByTestId('ndv').waitFor();
}

export async function closeNode({ page }: Editor): Promise<void> {
	await page.getByTestId('ndv-close-button').click();
	await page.getByTestId('ndv').waitFor({ state: 'hidden' });
}

/** Says something in the chat of the open workflow, and waits for an answer with this text. */
export async function say({ page }: Editor, text: string, answer: string): Promise<void> {
	const button = page.getByTestId('workflow-chat-button');
	await button.waitFor();
	if (await button.getByText('Open chat').isVisible()) await button.click();
	const box = page.getByTestId('canvas-chat').locator('textarea');
	await box.fill(text);
	await box.press('Enter');
	await page.getByTestId('canvas-chat').locator('.chat-message-from-bot').filter({ hasText: answer }).waitFor();
}
