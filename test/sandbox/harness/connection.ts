import * as oauth from 'oauth4webapi';
import type { Sandbox, SandboxOptions } from '../../../sandbox/serve.ts';
import { startObserved } from '../../conformance/observed.ts';
import { type Browser, submitAndFollow, newBrowser, shownOnce } from './scripted-browser.ts';
import type { Json } from './in-process.ts';

export const redirectUri = 'http://localhost:5678/rest/oauth2-credential/callback';
const overHttp = { [oauth.allowInsecureRequests]: true };

export interface RegisteredClient {
	id: string;
	/** None for a public client. */
	secret: string | undefined;
}

/** The tokens of one answer. */
export interface Connected {
	accessToken: string;
	refreshToken: string;
	scope: string;
}

/** A sandbox on the network, with a clock that stands until it is moved. */
export interface OAuthSandbox extends Sandbox {
	clock: { now: number };
	browse(): Browser;
	/** The browser of a signed-in user, the same one every time, since signing in again would slow down tests. */
	signedIn(role: 'admin' | 'member'): Promise<Browser>;
	register(type?: 'confidential' | 'public'): Promise<RegisteredClient>;
	/** The user's whole way: sign in, allow, and have the code exchanged by oauth4webapi. */
	connect(client: RegisteredClient, role: 'admin' | 'member', scope?: string): Promise<Connected>;
	/** An authorization code, and the verifier it can be exchanged with. */
	newCode(client: RegisteredClient): Promise<{ code: string; verifier: string }>;
	/** Posts parameters to an endpoint, the client's id and secret among them. */
	post(path: string, client: RegisteredClient, parameters: Record<string, string>): Promise<Answer>;
	/** Calls the API with a token. */
	call(
		token: string,
		method: string,
		path: string,
		body?: unknown,
		headers?: Record<string, string>,
	): Promise<Answer>;
}

export interface Answer {
	status: number;
	headers: Headers;
	body: Json;
}

export async function startOAuthSandbox(options: SandboxOptions = {}): Promise<OAuthSandbox> {
	const clock = { now: Date.parse('2026-01-05T10:00:00.000Z') };
	const running = await startObserved({ contacts: 0, now: () => clock.now, ...options });
	const { url } = running;
	const browse = () => newBrowser((path, init) => fetch(new URL(path, url), init));

	const browsers = new Map<string, Browser>();
	const signedIn = async (role: 'admin' | 'member') => {
		const existingBrowser = browsers.get(role);
		if (existingBrowser) return existingBrowser;
		const browser = browse();
		await browser.signIn(role);
		browsers.set(role, browser);
		return browser;
	};

	return {
		...running,
		clock,
		browse,
		signedIn,

		async register(type = 'confidential') {
			const browser = await signedIn('admin');
			const page = await submitAndFollow(browser, '/settings/api', {
				action: 'create-client',
				client_name: 'n8n',
				redirect_addresses: redirectUri,
				client_type: type,
			});
			const [id, secret] = shownOnce(page);
			return { id: id!, secret };
		},

		async newCode(client) {
			const { verifier, address } = await authorize(await signedIn('admin'), client);
			return { verifier, code: address.searchParams.get('code')! };
		},

		connect: async (client, role, scope) => await exchange(url, client, await authorize(await signedIn(role), client, scope)),

		...callsOf(url),
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
	const page = await browser.open(`/oauth/authorize?${query}`);
	const { location } = await browser.submit(page, `/oauth/authorize?${query}`, {
		decision: 'allow',
	});
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
	return {
		accessToken: answer.access_token,
		refreshToken: answer.refresh_token!,
		scope: answer.scope!,
	};
}

function callsOf(url: string): Pick<OAuthSandbox, 'post' | 'call'> {
	const answerOf = async (response: Response): Promise<Answer> => {
		const text = await response.text();
		const { status, headers } = response;
		return { status, headers, body: text === '' ? null : JSON.parse(text) };
	};

	return {
		post: async (path, { id, secret }, parameters) => {
			const credentials = { client_id: id, ...(secret !== undefined && { client_secret: secret }) };
			const body = new URLSearchParams({ ...credentials, ...parameters });
			return answerOf(await fetch(url + path, { method: 'POST', body }));
		},

		call: async (token, method, path, body, headers) =>
			answerOf(
				await fetch(url + path, {
					method,
					headers: {
						Authorization: `Bearer ${token}`,
						...(body !== undefined && { 'Content-Type': 'application/json' }),
						...headers,
					},
					...(body !== undefined && { body: JSON.stringify(body) }),
				}),
			),
	};
}

/** The sandbox's OAuth metadata, read and checked by oauth4webapi. */
export async function discover(url: string) {
	const issuer = new URL(url);
	const options = { algorithm: 'oauth2', ...overHttp } as const;
	return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options));
}

export const authentication = ({ secret }: RegisteredClient) =>
	secret === undefined ? oauth.None() : oauth.ClientSecretBasic(secret);

/** The query of a request that is in order. */
export async function authorizationQuery(
	client: RegisteredClient,
	verifier: string,
	scope?: string,
): Promise<URLSearchParams> {
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
