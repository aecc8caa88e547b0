import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import type { IDataObject } from 'n8n-workflow';

/** An answer on its way, which a test may change; with `isLost` it never arrives. */
export interface EditedAnswer {
	method: string;
	path: string;
	status: number;
	body: IDataObject;
	isLost?: boolean;
	/** The service's clock. */
	date: string;
}

/** Stands between n8n and a service: other answers than the service's own. */
export async function startEditing(serviceUrl: string, edit: (answer: EditedAnswer) => void) {
	const requests: string[] = [];
	const server = createServer((request, response) => {
		const pass = async () => {
			const { method = '', url: path = '' } = request;
			requests.push(`${method} ${path}`);
			const { host, connection, 'content-length': _, ...headers } = request.headers;
			const body = method === 'GET' ? undefined : await text(request);
			const answer = await fetch(serviceUrl + path, { method, headers: headers as Record<string, string>, ...(body && { body }) });
			const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
			const content = await answer.text();
			const date = answer.headers.get('date') ?? '';
			const edited: EditedAnswer = { method, path, status: answer.status, body: isJson ? JSON.parse(content) : {}, date };
			edit(edited);
			if (edited.isLost) return void request.socket.destroy();
			response.writeHead(edited.status, {
				'content-type': answer.headers.get('content-type') ?? 'text/plain',
				date: edited.date,
			});
			response.end(edited.status === 204 ? undefined : isJson ? JSON.stringify(edited.body) : content);
		};
		pass().catch((error: Error) => response.writeHead(502).end(error.message));
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		/** Of all requests, `GET /v1/webhooks`. */
		requests,
		async close() {
			server.closeAllConnections();
			server.close();
		},
	};
}
