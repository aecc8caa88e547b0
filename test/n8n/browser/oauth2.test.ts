import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { signInCallback } from '../../../demo/n8n-environment.ts';
import { type Sandbox, startSandbox } from '../../../sandbox/serve.ts';
import { theN8n, theWorld } from '../harness/access.ts';
import { inBrowser, useEditor } from '../harness/browser.ts';
import { calledWorkflow, runN8nNode } from '../harness/run-n8n-node.ts';
import { requestsTo } from '../harness/sandbox-calls.ts';
import { openCredential, signIn } from '../harness/sign-in.ts';

const clientId = 'cli_test';
const callback = signInCallback(Number(new URL(theWorld().n8nUrl).port));

inBrowser.describe('Signing in with OAuth2 in a real n8n', () => {
	const n8n = theN8n();
	const clock = { now: Date.now() };
	let sandbox: Sandbox;
	const editor = useEditor();

	beforeAll(async () => {
		sandbox = await startSandbox({
			contacts: 1_200,
			plan: 'enterprise',
			faults: true,
			now: () => clock.now,
			// A refresh token used twice logs the user out.
			tokenLifetimes: { replacedRefreshToken: 0 },
			oauthClient: { id: clientId, name: 'n8n', redirectUri: callback },
		});
	});
	afterEach(async () => {
		await editor.page.context().clearCookies({ name: 'crm_session' });
	});
	afterAll(async () => {
		await sandbox?.close();
	});

	/** Creates a credential that is not connected yet. */
	const addCredential = async (baseUrl = sandbox.url) =>
		await n8n.createCredential({
			name: `Sign in ${randomUUID()}`,
			type: 'crmPlatformOAuth2Api',
			data: { baseUrl, clientId },
		});

	async function connect(): Promise<string> {
		const id = await addCredential();
		const dialog = await openCredential(editor, id);
		const window = await signIn(editor, dialog);
		await window.setViewportSize({ width: 520, height: 640 });
		await editor.picture('oauth2-consent', window);
		await window.getByRole('button', { name: 'Allow' }).click();
		await dialog.getByTestId('oauth-connect-success-banner').waitFor();
		await editor.picture('oauth2-credential');
		return id;
	}

	const connected = (id: string) => ({ crmPlatformOAuth2Api: { id, name: 'Sign in' } });

	const list = (more: IDataObject = {}) => ({
		authentication: 'oAuth2',
		resource: 'contact',
		operation: 'getMany',
		limit: 10,
		...more,
	});

	const refreshes = async () => (await requestsTo(sandbox.url)).filter(({ path }) => path === '/oauth/token').length;

	test('a user connects with a click, and 20 executions at once outlive the access token', async () => {
		const credentialId = await connect();
		const { items } = await runN8nNode(n8n, { credentials: connected(credentialId), parameters: list() });
		expect(items).toHaveLength(10);

		const { workflow, path } = calledWorkflow({ credentials: connected(credentialId), parameters: list() });
		const id = await n8n.createWorkflow(workflow);
		await n8n.activateWorkflow(id);
		const before = await refreshes();
		clock.now += 60 * 60 * 1000;
		const answers = await Promise.all(
			Array.from({ length: 20 }, () => fetch(`${theWorld().n8nUrl}/webhook/${path}`)),
		);
		expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
		expect(await refreshes()).toBe(before + 1);

		const all = await runN8nNode(n8n, { credentials: connected(credentialId), parameters: list({ returnAll: true }) });
		expect(all.items).toHaveLength(1_200);
	});

	test('a user who denies access sees a message about it, and the credential stays unconnected', async () => {
		const credentialId = await addCredential(`${sandbox.url}/v1/`);
		const window = await signIn(editor, await openCredential(editor, credentialId));
		await window.getByRole('button', { name: 'Deny' }).click();
		await window.getByText('Failed to connect').waitFor();
		expect(await window.content()).toContain('The user denied the request.');
		await window.close();

		const run = await runN8nNode(n8n, { credentials: connected(credentialId), parameters: list() });
		expect(run.error?.message).toContain('not connected yet');
	});
});
