import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { TestSandbox } from './sandbox.ts';

interface AlteredRequest {
	method: string;
	url: URL;
	text: string;
}

type Instead = { status: number; body: string; type?: string } | void;

/** What happens to the requests between the node and the sandbox. */
export interface Alteration {
	/** Changes the request on its way, or answers in the sandbox's place. */
	request?(request: AlteredRequest): Instead | Promise<Instead>;
	/** Changes the answer's text; undefined breaks the connection instead. */
	answer?(text: string, request: AlteredRequest, status: number): string | undefined;
}

/** The sandbox, as another service would answer in its place. */
export function alteredService(sandbox: TestSandbox): TestSandbox & { alter(next: Alteration): void } {
	let alteration: Alteration = {};
	const server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			const own = { method: request.method ?? 'GET', url: new URL(request.url ?? '/', sandbox.url), text: Buffer.concat(chunks).toString() };
			void (async () => {
				const instead = await alteration.request?.(own);
				if (instead) {
					response.writeHead(instead.status, { 'content-type': instead.type ?? 'application/json' });
					return response.end(instead.body);
				}
				const { host: _, connection: _c, 'content-length': _l, ...headers } = request.headers;
				const hasBody = own.method !== 'GET' && own.text !== '';
				const reply = await fetch(own.url, { method: own.method, headers: headers as Record<string, string>, ...(hasBody && { body: own.text }) });
				const text = await reply.text();
				const altered = alteration.answer ? alteration.answer(text, own, reply.status) : text;
				if (altered === undefined) return response.destroy();
				response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? 'application/json' });
				response.end(reply.status === 204 ? undefined : altered);
			})();
		});
	});
	beforeAll(async () => await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
	beforeEach(() => (alteration = {}));
	afterAll(async () => {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	});
	const credential = () => {
		const { port } = server.address() as AddressInfo;
		return { ...sandbox.credential, baseUrl: `http://127.0.0.1:${port}` };
	};
	const alter = (next: Alteration) => void (alteration = next);
	return Object.create(sandbox, { credential: { get: credential }, alter: { value: alter } }) as TestSandbox & { alter: typeof alter };
}
