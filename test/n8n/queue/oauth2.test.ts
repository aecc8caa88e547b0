import { randomUUID } from 'node:crypto';
import { signInCallback } from '../../../demo/n8n-environment.ts';
import { type Sandbox, startSandbox } from '../../../sandbox/serve.ts';
import { newBrowser } from '../../sandbox/harness/scripted-browser.ts';
import { theN8n, theWorld } from '../harness/access.ts';
import { calledWorkflow } from '../harness/run-n8n-node.ts';
import { requestsTo } from '../harness/sandbox-calls.ts';
import { describeInQueueMode, doneByWorkers, theQueue } from './harness/queue-access.ts';

const clientId = 'cli_test';

/** Connects an OAuth2 credential without a browser: signs in to the service and allows access. */
async function connect(sandbox: Sandbox, credentialId: string): Promise<void> {
	const { n8nUrl, session } = theWorld();
	const identity = { 'browser-id': session.browserId, cookie: session.cookie };
	const authResponse = await fetch(`${n8nUrl}/rest/oauth2-credential/auth?id=${credentialId}`, { headers: identity });
	const { data: address } = (await authResponse.json()) as { data: string };

	const user = newBrowser(async (path, init) => await fetch(new URL(path, sandbox.url), init));
	await user.signIn('admin');
	const { location } = await user.submit(address, { decision: 'allow' });

	// n8n recognizes the browser that began by a cookie.
	const cookie = [session.cookie, ...authResponse.headers.getSetCookie().map((line) => line.split(';')[0])];
	const response = await fetch(location, { headers: { ...identity, cookie: cookie.join('; ') } });
	if (!response.ok) throw new Error(`${location}: ${response.status} ${await response.text()}`);
}

describeInQueueMode('In queue mode', () => {
	const clock = { ahead: 0 };
	let sandbox: Sandbox;
	beforeAll(async () => {
		const redirectUri = signInCallback(Number(new URL(theWorld().n8nUrl).port));
		sandbox = await startSandbox({
			plan: 'enterprise',
			faults: true,
			now: () => Date.now() + clock.ahead,
			// A refresh token used twice logs the user out.
			tokenLifetimes: { replacedRefreshToken: 0 },
			oauthClient: { id: clientId, name: 'n8n', redirectUri },
		});
	});
	afterAll(async () => {
		await sandbox?.close();
	});

	const renewals = async () => (await requestsTo(sandbox.url)).filter(({ path }) => path === '/oauth/token').length;

	test('executions on both workers renew the access token once, each time it expires', async () => {
		const n8n = theN8n();
		const { webhookUrls } = theQueue();
		const credentialId = await n8n.createCredential({
			name: `Sign in ${randomUUID()}`,
			type: 'crmPlatformOAuth2Api',
			data: { baseUrl: sandbox.url, clientId },
		});
		await connect(sandbox, credentialId);
		const parameters = { authentication: 'oAuth2', resource: 'contact', operation: 'getMany', limit: 2 };
		const { workflow, path } = calledWorkflow({ credentials: { crmPlatformOAuth2Api: { id: credentialId, name: 'Sign in' } }, parameters });
		const id = await n8n.createWorkflow(workflow);
		await n8n.activateWorkflow(id);

		for (const round of [1, 2]) {
			const before = await renewals();
			clock.ahead += 60 * 60 * 1000;
			const calls = Array.from({ length: 10 }, async (_, i) => {
				const response = await fetch(`${webhookUrls[i % 2]}/webhook/${path}`);
				return response.status;
			});
			expect(await Promise.all(calls)).toEqual(calls.map(() => 200));
			expect({ round, renewals: (await renewals()) - before }).toEqual({ round, renewals: 1 });
		}
		const ids = await n8n.listExecutions(id);
		for (const done of await doneByWorkers(ids)) expect(done).not.toEqual([]);
	});
});
