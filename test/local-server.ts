import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A web server of a test, on a free port of this machine. */
export interface LocalServer {
	url: string;
	/** Ends the server and its connections. */
	close(): Promise<void>;
}

export async function startLocalServer(answer: RequestListener): Promise<LocalServer> {
	const server = createServer(answer).listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		async close() {
			const closed = once(server, 'close');
			server.close();
			server.closeAllConnections();
			await closed;
		},
	};
}
