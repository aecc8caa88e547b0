import { demoMembers } from '../../../sandbox/seed/demo-members.ts';
import { type Call, inProcess } from './in-process.ts';

const client = { id: 'cli_test', secret: 'crm_secret_test' };

/** The headers of a form that the client of the grants sends. */
export const clientForm = {
	'Content-Type': 'application/x-www-form-urlencoded',
	Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}`,
};

export type TokenSandbox = ReturnType<typeof tokenSandbox>;

/** A sandbox in process that makes access tokens without a sign-in. */
export function tokenSandbox(options: Parameters<typeof inProcess>[0] = {}) {
	const now = options.now ?? Date.now;
	const sandbox = inProcess(options);
	const { store, send } = sandbox;
	const { id, secret } = client;
	store.clients.add({ id, name: 'n8n', redirectUris: [], createdAt: now() }, secret);
	let grants = 0;

	/** A grant of a user, with an access token and a refresh token. */
	const grant = (userId: string, scopes: string[], clientId = id) => {
		const grantId = `grant_${++grants}`;
		const code = { redirectUri: 'http://localhost', challenge: '', expiresAt: now() + 3_600_000 };
		store.grants.add({ id: grantId, clientId, userId, scopes }, code, now());
		const access = store.tokens.addAccess(grantId, scopes, now() + 3_600_000, now());
		return { id: grantId, access, refresh: store.tokens.addRefresh(grantId) };
	};
	/** Calls with a token. */
	const callWith = (token: string): Call => (method, path, body, headers) =>
		send(method, path, body, { Authorization: `Bearer ${token}`, ...headers });

	return {
		...sandbox,
		admin: demoMembers[0]!.id,
		sales: demoMembers[1]!.id,
		/** Creates another user who can sign in. */
		async newUser(role: string): Promise<string> {
			const email = `user-${++grants}@x.example`;
			const { body } = await sandbox.post('/v1/users', { email, role, status: 'active' });
			store.members.add(body.id, demoMembers[1]!.password);
			return body.id;
		},
		grant,
		/** Calls as a user. */
		as: (userId: string, scopes: string[]) => callWith(grant(userId, scopes).access),
		with: callWith,
	};
}
