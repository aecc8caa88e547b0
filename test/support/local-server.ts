import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';

import { listen } from './listen.ts';

/** A web server of a test, on a free port of this machine. */
export interface LocalServer {
	url: string;
	/** Ends the server and its connections. */
	close(): Promise<void>;
}

export async function startLocalServer(answer: RequestListener): Promise<LocalServer> {
	const server = createServer(answer);
	return {
		url: await listen(server),
		async close() {
			const closed = once(server, 'close');
			server.close();
			server.closeAllConnections();
			await closed;
		},
	};
}
