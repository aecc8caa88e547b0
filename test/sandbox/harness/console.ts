import { demoMembers } from '../../../sandbox/seed/demo-members.ts';
import { type SandboxOptions, startSandbox } from '../../../sandbox/serve.ts';
import { type Browser, hiddenValue, newBrowser, type Shown } from './scripted-browser.ts';
import { callService } from './call-service.ts';
import type { Call, Json } from './in-process.ts';

export type Console = Awaited<ReturnType<typeof startConsole>>;

/** The sandbox with its console, and people who are signed in to it. */
export async function startConsole(options: SandboxOptions = {}) {
	const sandbox = await startSandbox({ contacts: 60, requestsPerMinute: 1_000_000, ...options });
	/** A browser without a sign-in. */
	const browse = (headers?: Record<string, string>) =>
		newBrowser((path, init) => fetch(new URL(path, sandbox.url), { ...init, headers: { ...init.headers, ...headers } }));
	const signedIn = async (role: 'admin' | 'member') => {
		const browser = browse();
		await browser.signIn(role);
		return browser;
	};
	/** Calls the API with the API key. */
	const api = async (...request: Parameters<Call>): Promise<Json> => (await callService(sandbox.url, sandbox.apiKey, ...request)).body;
	return {
		...sandbox,
		admin: await signedIn('admin'),
		member: await signedIn('member'),
		browse,
		api,
		newContact: (values: Json = {}) => api('POST', '/v1/contacts', { last_name: 'Moreno', ...values }),
	};
}

/** Opens a page with a form and sends it, with the version that the page shows. */
export async function fillIn(browser: Browser, page: string, to: string, fields: Record<string, string>): Promise<Shown> {
	const formPage = await browser.open(page);
	const version = hiddenValue(formPage, 'version');
	return browser.submit(to, { ...(version && { version }), ...fields });
}

export const adminId = demoMembers.find(({ role }) => role === 'admin')!.id;
export const memberId = demoMembers.find(({ role }) => role === 'member')!.id;
