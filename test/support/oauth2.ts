import type { SandboxOptions } from '../../sandbox/serve.ts';
import { startOAuthSandbox } from '../sandbox/harness/connection.ts';
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
	const { url } = sandbox;
	const control = `${url}/_sandbox`;
	const clearLog = async () => void (await fetch(`${control}/requests`, { method: 'DELETE' }));
	const log = async () => {
		const entries = (await (await fetch(`${control}/requests`)).json()) as Array<Record<string, string>>;
		return entries.filter(({ path }) => path !== '/openapi.json');
	};

	return {
		...sandbox,

		/** A credential that a user has connected, as n8n stores it. */
		async credential(user: User = {}): Promise<StoredOAuth2> {
			const { role = 'admin', client = 'confidential', scope = 'contacts:read contacts:write' } = user;
			const { id, secret } = clients[client];
			const { accessToken, refreshToken } = await sandbox.connect(clients[client], role, scope);
			await clearLog();
			return {
				id: `oauth2-${(credentials += 1)}`,
				data: {
					baseUrl: url,
					grantType: 'pkce',
					authentication: 'header',
					clientId: id,
					clientSecret: secret ?? '',
					accessTokenUrl: `${url}/oauth/token`,
					scope,
					oauthTokenData: { access_token: accessToken, refresh_token: refreshToken, token_type: 'Bearer' },
				},
			};
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
