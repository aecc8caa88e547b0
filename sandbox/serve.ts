import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type AppOptions, createApp } from './app.ts';
import { idMaker } from './ids.ts';
import { seed } from './seed/index.ts';
import { Store } from './store/store.ts';
import { serverFor } from './unreadable.ts';

export interface SandboxOptions extends Omit<AppOptions, 'store'> {
	/** 0, the default, takes any free port. */
	port?: number;
	host?: '127.0.0.1';
	/** A file, or `:memory:`, the default. */
	db?: string;
	/** How many contacts a new database begins with: 200, if not said otherwise. */
	contacts?: number;
	/** If none is given, one is made up with the database, and is the same at every start. */
	apiKey?: string;
	/** A public OAuth client that is there from the beginning, besides those made in the settings. */
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
	const { port = 0, host = '127.0.0.1' } = options;
	const store = openStore(options.db ?? ':memory:');
	try {
		seed(store, options.contacts ?? 200);
		const apiKey = keyOf(store, options.apiKey);
		if (options.oauthClient) {
			const { id, name, redirectUri } = options.oauthClient;
			const client = { id, name, redirectUris: [redirectUri], createdAt: Date.now() };
			store.clients.add(client, undefined);
		}
		const server = serverFor(createApp({ ...options, store }));
		server.listen(port, host);
		await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
			if (error.code !== 'EADDRINUSE') throw error;
			throw new Error(`Port ${port} is in use. Stop what uses it, or take another port.`);
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
 * The API key of the command line.
 *
 * @param given if none is, the key that was made up for this database before, unless it was revoked;
 * only its hash is kept, but it can be made again from its id
 */
function keyOf({ accountKey, apiKeys }: Store, given: string | undefined): string {
	const keyFor = (id: string) => {
		const bytes = accountKey.mac('api key', id).subarray(0, 24);
		return `crm_${bytes.toString('base64url')}`;
	};
	const known = apiKeys.list().find(({ id }) => apiKeys.find(keyFor(id)));
	if (given === undefined && known) return keyFor(known.id);
	const id = idMaker()('key', Date.now());
	const key = given ?? keyFor(id);
	apiKeys.add(id, key, { name: 'Command line' });
	return key;
}

function openStore(path: string): Store {
	try {
		return new Store(path);
	} catch (error) {
		throw new Error(
			`${path} cannot be used as a database: ${(error as Error).message}. Choose another file.`,
		);
	}
}
