import type { Sandbox } from '../../../../sandbox/serve.ts';
import { theWorld } from '../../harness/access.ts';
import { newBrowser } from '../../../sandbox/harness/scripted-browser.ts';

/** Connects an OAuth2 credential without a browser: signs in to the service and allows access. */
export async function connect(sandbox: Sandbox, credentialId: string): Promise<void> {
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
