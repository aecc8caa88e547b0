import type { IncomingHttpHeaders, RequestListener, ServerResponse } from 'node:http';

export interface WholeRequest {
	method: string;
	url: URL;
	headers: IncomingHttpHeaders;
	body: string;
}

/** Answers a request once its whole body has arrived. */
export const withWholeRequest = (answer: (request: WholeRequest, response: ServerResponse) => void): RequestListener =>
	(request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			const { method = '', url = '/', headers } = request;
			answer({ method, url: new URL(url, 'http://127.0.0.1'), headers, body: Buffer.concat(chunks).toString() }, response);
		});
	};
