import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import type { IDataObject } from 'n8n-workflow';

import type { TestSandbox } from './sandbox.ts';

interface AlteredRequest {
	method: string;
	url: URL;
	text: string;
	authorization: string;
}

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

export type Instead = { status: number; body: string; type?: string; headers?: Record<string, string> } | undefined | void;

/** What happens to the requests between the node and the sandbox. */
export interface Alteration {
	/** Changes the request on its way, or answers in the sandbox's place. */
	request?(request: AlteredRequest): Instead | Promise<Instead>;
	/** Changes the answer's text; undefined breaks the connection instead. */
	answer?(text: string, request: AlteredRequest, status: number): string | undefined;
	/** Changes an answer in JSON. */
	edit?: ((answer: EditedAnswer) => void) | undefined;
}

export interface AlteredService extends TestSandbox {
	alter(next: Alteration): void;
	/** Alters nothing but answers in JSON. */
	edit(change: (answer: EditedAnswer) => void): void;
	/** Methods and paths of this test's requests: `GET /v1/webhooks`. */
	readonly passed: string[];
}

/**
 * The sandbox, as another service would answer in its place.
 *
 * @param isNewEachTest whether each test has another address, of which nodes remember nothing
 */
export function alteredService(sandbox: TestSandbox, isNewEachTest = false): AlteredService {
	let alteration: Alteration = {};
	const passed: string[] = [];
	const pass = async (request: IncomingMessage, response: ServerResponse) => {
		const { method = 'GET', url: path = '/' } = request;
		passed.push(`${method} ${path}`);
		const alteredRequest = { method, url: new URL(path, sandbox.url), text: await text(request), authorization: request.headers.authorization ?? '' };
		const instead = await alteration.request?.(alteredRequest);
		if (instead) {
			response.writeHead(instead.status, { 'content-type': instead.type ?? 'application/json', ...instead.headers });
			return response.end(instead.body);
		}
		const { host: _, connection: _c, 'content-length': _l, ...headers } = request.headers;
		if (alteredRequest.authorization !== '') headers.authorization = alteredRequest.authorization;
		const hasBody = method !== 'GET' && alteredRequest.text !== '';
		const reply = await fetch(alteredRequest.url, { method, headers: headers as Record<string, string>, ...(hasBody && { body: alteredRequest.text }) });
		const type = reply.headers.get('content-type') ?? 'application/json';
		let { status } = reply;
		let content = await reply.text();
		let date = reply.headers.get('date') ?? '';
		if (alteration.edit) {
			const isJson = content !== '' && type.includes('json');
			const edited: EditedAnswer = { method, path, status, body: isJson ? JSON.parse(content) : {}, date };
			alteration.edit(edited);
			if (edited.isLost) return response.destroy();
			({ status, date } = edited);
			if (isJson) content = JSON.stringify(edited.body);
		}
		const altered = alteration.answer ? alteration.answer(content, alteredRequest, status) : content;
		if (altered === undefined) return response.destroy();
		response.writeHead(status, { 'content-type': type, ...(date && { date }) });
		return response.end(status === 204 ? undefined : altered);
	};
	const servers: Server[] = [];
	(isNewEachTest ? beforeEach : beforeAll)(async () => {
		const server = createServer((request, response) => {
			pass(request, response).catch(() => response.destroy());
		});
		servers.push(server);
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	});
	beforeEach(() => {
		alteration = {};
		passed.splice(0);
	});
	afterAll(() => {
		for (const server of servers) server.close().closeAllConnections();
	});
	const credential = () => {
		const { port } = servers.at(-1)!.address() as AddressInfo;
		return { ...sandbox.credential, baseUrl: `http://127.0.0.1:${port}` };
	};
	const alter = (next: Alteration) => void (alteration = next);
	return Object.create(sandbox, {
		credential: { get: credential },
		alter: { value: alter },
		edit: { value: (edit: Alteration['edit']) => alter({ edit }) },
		passed: { value: passed },
	}) as AlteredService;
}

/** JSON of a service that has no versions. */
export const withoutVersions = (text: string): string =>
	JSON.stringify(JSON.parse(text), (_, value: unknown) => {
		if (Array.isArray(value)) return value.filter((element: { name?: string } | string) => element !== 'version' && (element as { name?: string })?.name !== 'If-Match');
		if (typeof value !== 'object' || value === null) return value;
		return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'version'));
	});
