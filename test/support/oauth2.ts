import type { SandboxOptions } from '../../sandbox/serve.ts';
import { startOAuthSandbox, type Connected, type RegisteredClient } from '../sandbox/harness/connection.ts';
import type { Fault } from '../../sandbox/control/faults.ts';
import type { StoredOAuth2 } from './node-runs.ts';

interface User {
	role?: 'admin' | 'member';
	scope?: string;
	client?: 'confidential' | 'public';
}

export type SignInSandbox = Awaited<ReturnType<typeof startSignInSandbox>>;

let credentials = 0;

/** A sandbox whose users connect credentials, and whose tokens expire or are revoked. */
export async function startSignInSandbox(options: SandboxOptions = {}) {
	const sandbox = await startOAuthSandbox({ faults: true, ...options });
	const clients = { confidential: await sandbox.register('confidential'), public: await sandbox.register('public') };
	const { clearLog, ...control } = controlOf(sandbox.url);

	return {
		...sandbox,
		...control,

		/** A credential that a user has connected, as n8n stores it. */
		async credential(user: User = {}): Promise<StoredOAuth2> {
			const { role = 'admin', client = 'confidential', scope = 'contacts:read contacts:write' } = user;
			const connected = await sandbox.connect(clients[client], role, scope);
			await clearLog();
			return storedCredential(sandbox.url, clients[client], connected, scope);
		},

		/** Lets the access tokens of all credentials expire. */
		expire() {
			sandbox.clock.now += 60 * 60 * 1000;
		},

		/** Revokes the access of the credential, as a user does in the service's settings. */
		async revoke({ data: { oauthTokenData } }: StoredOAuth2) {
			const { refresh_token: token } = oauthTokenData as { refresh_token: string };
			await sandbox.post('/oauth/revoke', clients.confidential, { token });
		},
	};
}

/** A connected credential as n8n stores it. */
const storedCredential = (baseUrl: string, { id, secret }: RegisteredClient, connected: Connected, scope: string) => ({
	id: `oauth2-${(credentials += 1)}`,
	data: {
		baseUrl,
		grantType: 'pkce' as const,
		authentication: 'header' as const,
		clientId: id,
		clientSecret: secret ?? '',
		accessTokenUrl: `${baseUrl}/oauth/token`,
		scope,
		oauthTokenData: {
			access_token: connected.accessToken,
			refresh_token: connected.refreshToken,
			token_type: 'Bearer',
		},
	},
});

/** The sandbox's faults and its log of requests. */
function controlOf(url: string) {
	const control = `${url}/_sandbox`;
	const clearLog = async () => void (await fetch(`${control}/requests`, { method: 'DELETE' }));
	const log = async () => {
		const response = await fetch(`${control}/requests`);
		const entries = (await response.json()) as Array<Record<string, string>>;
		return entries.filter(({ path }) => path !== '/openapi.json');
	};

	return {
		clearLog,

		async faults(...faults: Array<Partial<Fault>>) {
			await fetch(`${control}/faults`, {
				method: 'PUT',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify(faults),
			});
			await clearLog();
		},

		/** The number of requests that faults have hit. */
		async struck() {
			const planned = (await (await fetch(`${control}/faults`)).json()) as Array<{ hits: number }>;
			return planned.reduce((sum, { hits }) => sum + hits, 0);
		},

		/** The requests of n8n since the last credential or fault: `POST /oauth/token 200`. */
		requests: async () => (await log()).map(({ method, path, status }) => `${method} ${path} ${status}`),

		idempotencyKeys: async () => (await log()).flatMap(({ idempotencyKey }) => idempotencyKey ?? []),
	};
}
