import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LocalRequest {
	method: string;
	url: URL;
	headers: IncomingHttpHeaders;
	body: string;
}

export interface LocalServer {
	url: string;
	close(): Promise<void>;
}

/** Starts a server on a free port. It answers a request once the whole body has arrived. */
export async function startLocalServer(answer: (request: LocalRequest, response: ServerResponse) => void): Promise<LocalServer> {
	const server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			const { method = '', url = '/', headers } = request;
			answer({ method, url: new URL(url, 'http://127.0.0.1'), headers, body: Buffer.concat(chunks).toString() }, response);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		async close() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
