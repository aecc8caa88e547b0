import { getRequestListener } from '@hono/node-server';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AppOptions, createApp } from './app.ts';
import { idMaker } from './core/foundation/ids.ts';
import { seed } from './seed/seed.ts';
import { Store } from './core/store/store.ts';
import { DatabaseVersionError } from './core/store/records/table.ts';

const host = '127.0.0.1';

export interface SandboxOptions extends Omit<AppOptions, 'store'> {
	/** The port; 0, the default, picks a free one. */
	port?: number;
	/** The path of the database file; `:memory:` by default. */
	db?: string;
	/** The number of contacts in a new database; 200 by default. */
	contacts?: number;
	/** The data of a new database ends at the start of this day (`YYYY-MM-DD`, UTC); by default, of today. */
	day?: string;
	/** Whether the event log of a new database begins with a few days of a team's work; not by default. */
	isLively?: boolean;
	/** The API key; by default, it is generated once per database and is the same at every start. */
	apiKey?: string;
	/** A public OAuth client to register, besides those created in the settings. */
	oauthClient?: { id: string; name: string; redirectUri: string };
}

export interface Sandbox {
	url: string;
	apiKey: string;
	close(): Promise<void>;
}

/**
 * Serves the sandbox over HTTP.
 *
 * @throws Error if the port is taken or the file is not a database; the message says what to do
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const { port = 0 } = options;
	const store = openStore(options.db ?? ':memory:');
	try {
		seed(store, options.contacts ?? 200, options);
		const apiKey = registerKey(store, options.apiKey);
		if (options.oauthClient) {
			const { id, name, redirectUri } = options.oauthClient;
			const client = { id, name, redirectUris: [redirectUri], createdAt: Date.now() };
			store.clients.add(client, undefined);
		}
		const listener = getRequestListener(createApp({ ...options, store }).fetch);
		const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
		// Longer than clients keep idle connections: if the server closes one just as it is reused, a request is lost.
		server.keepAliveTimeout = 65_000;
		server.listen(port, host);
		await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
			if (error.code !== 'EADDRINUSE') throw error;
			throw new Error(`Port ${port} is in use. Stop the program that uses it, or choose another port.`);
		});
		const close = async () => {
			const closed = once(server, 'close');
			server.close();
			server.closeAllConnections();
			await closed;
			store.close();
		};
		return { url: `http://${host}:${(server.address() as AddressInfo).port}`, apiKey, close };
	} catch (error) {
		store.close();
		throw error;
	}
}

/**
 * Returns the API key of the sandbox, and registers it if it is new.
 *
 * @param chosenKey if absent, the key generated earlier for this database is used, unless it was revoked.
 * Only its hash is stored, but the key can be derived again from its id.
 */
function registerKey({ accountKey, apiKeys }: Store, chosenKey: string | undefined): string {
	const derivedKey = (id: string) => {
		const bytes = accountKey.mac('api key', id).subarray(0, 24);
		return `crm_${bytes.toString('base64url')}`;
	};
	const generated = apiKeys.list().find(({ id }) => apiKeys.find(derivedKey(id)));
	if (chosenKey === undefined && generated) return derivedKey(generated.id);
	const id = idMaker()('key', Date.now());
	const key = chosenKey ?? derivedKey(id);
	apiKeys.add(id, key, { name: 'Command line' });
	return key;
}

function openStore(path: string): Store {
	try {
		return new Store(path);
	} catch (error) {
		if (error instanceof DatabaseVersionError) {
			throw new DatabaseVersionError(
				`${path} was created by another version of the sandbox and was not changed. ` +
					'Choose another file with --db, or delete this one to start over.',
			);
		}
		throw new Error(`${path} cannot be used as a database: ${(error as Error).message}. Choose another file.`);
	}
}
