import * as oauth from 'oauth4webapi';
import type { SandboxOptions } from '../../../sandbox/serve.ts';
import { startObserved } from '../../contract/observed.ts';
import { callService, replyOf } from './call-service.ts';
import { type Browser, submitAndFollow, newBrowser, shownOnce } from './scripted-browser.ts';
import type { Call } from './in-process.ts';

export const redirectUri = 'http://localhost:5678/rest/oauth2-credential/callback';
const overHttp = { [oauth.allowInsecureRequests]: true };

export interface RegisteredClient {
	id: string;
	/** A public client has none. */
	secret: string | undefined;
}

/** The tokens of one response. */
export interface Connected {
	accessToken: string;
	refreshToken: string;
	scope: string;
}

export type OAuthSandbox = Awaited<ReturnType<typeof startOAuthSandbox>>;

/** A sandbox on the network, with a clock that tests move. */
export async function startOAuthSandbox(options: SandboxOptions = {}) {
	const clock = { now: Date.parse('2026-01-05T10:00:00.000Z') };
	const running = await startObserved({ contacts: 0, now: () => clock.now, ...options });
	const { url } = running;
	const browse = () => newBrowser((path, init) => fetch(new URL(path, url), init));

	const browsers = new Map<string, Browser>();
	/** The browser of a signed-in user. It is always the same one, since signing in again would slow down tests. */
	const signedIn = async (role: 'admin' | 'member') => {
		const existingBrowser = browsers.get(role);
		if (existingBrowser) return existingBrowser;
		const browser = browse();
		await browser.signIn(role);
		browsers.set(role, browser);
		return browser;
	};
	/** Calls the API with a token. */
	const call = async (token: string, ...request: Parameters<Call>) => await callService(url, token, ...request);

	return {
		...running,
		clock,
		browse,
		signedIn,

		async register(type: 'confidential' | 'public' = 'confidential'): Promise<RegisteredClient> {
			const page = await submitAndFollow(await signedIn('admin'), '/settings/api', {
				action: 'create-client',
				client_name: 'n8n',
				redirect_addresses: redirectUri,
				client_type: type,
			});
			const [id, secret] = shownOnce(page);
			return { id: id!, secret };
		},

		/** An authorization code and its verifier. */
		async newCode(client: RegisteredClient) {
			const { verifier, address } = await authorize(await signedIn('admin'), client);
			return { verifier, code: address.searchParams.get('code')! };
		},

		/** Connects a user as applications do: the user signs in and allows access, and oauth4webapi exchanges the code. */
		connect: async (client: RegisteredClient, role: 'admin' | 'member', scope?: string) =>
			await exchange(url, client, await authorize(await signedIn(role), client, scope)),

		/** Posts parameters to an endpoint, with the client's ID and secret. */
		async post(path: string, { id, secret }: RegisteredClient, parameters: Record<string, string>) {
			const credentials = { client_id: id, ...(secret !== undefined && { client_secret: secret }) };
			const body = new URLSearchParams({ ...credentials, ...parameters });
			return await replyOf(await fetch(url + path, { method: 'POST', body }));
		},

		call,
		/** Calls with the API key of the account. */
		asAccount: async (...request: Parameters<Call>) => await call(running.apiKey, ...request),
	};
}

/** A user's consent: the redirect address with the code, and the verifier of the request. */
interface Authorization {
	verifier: string;
	address: URL;
}

async function authorize(browser: Browser, client: RegisteredClient, scope?: string): Promise<Authorization> {
	const verifier = oauth.generateRandomCodeVerifier();
	const query = await authorizationQuery(client, verifier, scope);
	const { location } = await browser.submit(`/oauth/authorize?${query}`, { decision: 'allow' });
	return { verifier, address: new URL(location) };
}

/** Has oauth4webapi exchange a code for tokens. */
async function exchange(url: string, client: RegisteredClient, { verifier, address }: Authorization): Promise<Connected> {
	const server = await discover(url);
	const oauthClient = { client_id: client.id };
	const parameters = oauth.validateAuthResponse(server, oauthClient, address, 'a state');
	const response = await oauth.authorizationCodeGrantRequest(
		server,
		oauthClient,
		authentication(client),
		parameters,
		redirectUri,
		verifier,
		overHttp,
	);
	const answer = await oauth.processAuthorizationCodeResponse(server, oauthClient, response);
	return { accessToken: answer.access_token, refreshToken: answer.refresh_token!, scope: answer.scope! };
}

/** The sandbox's OAuth metadata, read and checked by oauth4webapi. */
export async function discover(url: string) {
	const issuer = new URL(url);
	const options = { algorithm: 'oauth2', ...overHttp } as const;
	return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options));
}

export const authentication = ({ secret }: RegisteredClient) =>
	secret === undefined ? oauth.None() : oauth.ClientSecretBasic(secret);

/** The query of a valid request. */
export async function authorizationQuery(client: RegisteredClient, verifier: string, scope?: string): Promise<URLSearchParams> {
	return new URLSearchParams({
		response_type: 'code',
		client_id: client.id,
		redirect_uri: redirectUri,
		state: 'a state',
		code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
		code_challenge_method: 'S256',
		...(scope !== undefined && { scope }),
	});
}
