import type { Locator, Page } from 'playwright-core';
import { demoMembers } from '../../../sandbox/seed/demo-members.ts';
import { theWorld } from './access.ts';
import type { Editor } from './browser.ts';

/** Opens a credential in n8n's editor. */
export async function openCredential({ page }: Editor, id: string): Promise<Locator> {
	await page.goto(`${theWorld().n8nUrl}/home/credentials/${id}`);
	return page.getByTestId('credential-edit-dialog');
}

/**
 * Clicks on connect in an open credential and signs in to the service.
 *
 * @returns the window in which the service asks whether n8n may act for the user
 */
export async function signIn({ page }: Editor, credential: Locator): Promise<Page> {
	const opened = page.waitForEvent('popup');
	await credential.getByRole('button', { name: 'Connect', exact: true }).click();
	const window = await opened;
	const { email, password } = demoMembers.find(({ role }) => role === 'admin')!;
	await window.locator('input[name="email"]').fill(email);
	await window.locator('input[name="password"]').fill(password);
	await window.getByRole('button', { name: 'Sign in' }).click();
	await window.getByRole('button', { name: 'Allow' }).waitFor();
	return window;
}
