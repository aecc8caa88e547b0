import type { Locator, Page } from 'playwright-core';
import { demoMembers } from '../../../sandbox/seed/demo-members.ts';
import { theWorld } from './access.ts';
import type { Editor } from './browser.ts';

const administrator = demoMembers.find(({ role }) => role === 'admin')!;

/** Signs in to a sandbox's pages as an administrator. */
export async function signInToPages(page: Page, sandboxUrl: string): Promise<void> {
	const { email, password } = administrator;
	await page.goto(`${sandboxUrl}/sign-in`);
	await page.getByLabel('Email').fill(email);
	await page.getByLabel('Password').fill(password);
	await page.getByRole('button', { name: 'Sign in' }).click();
	await page.getByRole('heading', { name: 'Welcome' }).waitFor();
}

/** Opens a credential in n8n's editor. */
export async function openCredential({ page }: Editor, id: string): Promise<Locator> {
	await page.goto(`${theWorld().n8nUrl}/home/credentials/${id}`);
	return page.getByTestId('credential-edit-dialog');
}

/**
 * Clicks Connect in an open credential and signs in to the service.
 *
 * @returns the window in which the service asks whether n8n may act for the user
 */
export async function signIn({ page }: Editor, credential: Locator): Promise<Page> {
	const opened = page.waitForEvent('popup');
	await credential.getByRole('button', { name: 'Connect', exact: true }).click();
	const window = await opened;
	const { email, password } = administrator;
	await window.locator('input[name="email"]').fill(email);
	await window.locator('input[name="password"]').fill(password);
	await window.getByRole('button', { name: 'Sign in' }).click();
	await window.getByRole('button', { name: 'Allow' }).waitFor();
	return window;
}
