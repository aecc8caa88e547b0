import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

import type { IDataObject } from 'n8n-workflow';

import { startLocalServer, type LocalServer } from './local-server.ts';
import type { TestSandbox } from './sandbox.ts';

export interface AlteredRequest {
	method: string;
	url: URL;
	headers: IncomingHttpHeaders;
	text: string;
	authorization: string;
}

/** An answer before it reaches the node. A test may change it; with `isLost`, it does not arrive. */
interface EditedAnswer {
	method: string;
	path: string;
	status: number;
	body: IDataObject;
	isLost?: boolean;
	/** The service's clock. */
	date: string;
}

interface Description {
	paths: Record<string, Record<string, { parameters?: Array<{ name?: string }> }>>;
	components: { schemas: Record<string, { properties: IDataObject }> };
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
	/** Changes only answers in JSON. */
	edit(change: (answer: EditedAnswer) => void): void;
	/** Methods and paths of this test's requests: `GET /v1/webhooks`. */
	readonly passed: string[];
}

/**
 * Another service: the sandbox, with requests and answers that a test changes.
 *
 * @param isNewEachTest whether each test has its own address, about which nodes remember nothing
 */
export function alteredService(sandbox: TestSandbox, isNewEachTest = false): AlteredService {
	let alteration: Alteration = {};
	const passed: string[] = [];
	const pass = async (request: IncomingMessage, response: ServerResponse) => {
		const { method = 'GET', url: path = '/' } = request;
		passed.push(`${method} ${path}`);
		const alteredRequest = {
			method, url: new URL(path, sandbox.url), headers: request.headers,
			text: await text(request), authorization: request.headers.authorization ?? '',
		};
		const instead = await alteration.request?.(alteredRequest);
		if (instead) {
			response.writeHead(instead.status, { 'content-type': instead.type ?? 'application/json', ...instead.headers });
			return response.end(instead.body);
		}
		const { host: _, connection: _c, 'content-length': _l, ...headers } = request.headers;
		if (alteredRequest.authorization !== '') headers.authorization = alteredRequest.authorization;
		const hasBody = method !== 'GET' && alteredRequest.text !== '';
		const reply = await fetch(alteredRequest.url, {
			method,
			headers: headers as Record<string, string>,
			...(hasBody && { body: alteredRequest.text }),
		});
		const type = reply.headers.get('content-type') ?? 'application/json';
		const replayed = Object.fromEntries([...reply.headers].filter(([name]) => name === 'idempotent-replayed'));
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
		response.writeHead(status, { 'content-type': type, ...(date && { date }), ...replayed });
		return response.end(status === 204 ? undefined : altered);
	};
	const servers: LocalServer[] = [];
	(isNewEachTest ? beforeEach : beforeAll)(async () => {
		servers.push(await startLocalServer((request, response) => void pass(request, response).catch(() => response.destroy())));
	});
	beforeEach(() => {
		alteration = {};
		passed.splice(0);
	});
	afterAll(async () => {
		for (const server of servers) await server.close();
	});
	const alter = (next: Alteration) => void (alteration = next);
	return Object.create(sandbox, {
		credential: { get: () => ({ ...sandbox.credential, baseUrl: servers.at(-1)!.url }) },
		alter: { value: alter },
		edit: { value: (edit: Alteration['edit']) => alter({ edit }) },
		passed: { value: passed },
	}) as AlteredService;
}

/** From now on, the service has another API description. */
export const redescribe = (service: AlteredService, change: (description: Description) => void): void =>
	service.edit(({ path, body }) => path.endsWith('/openapi.json') && change(body as unknown as Description));

/** Acts once, before the first request of this kind: `PATCH /v1/contacts/con_1`. */
export function beforeFirst(kind: RegExp, act: () => Promise<unknown>): Required<Alteration>['request'] {
	let isDone = false;
	return async ({ method, url }) => {
		if (isDone || !kind.test(`${method} ${url.pathname}`)) return;
		isDone = true;
		await act();
	};
}

/** The JSON without the empty parts of addresses and phone numbers, which some services omit. */
export const withoutEmptyParts = (json: string): string =>
	json.replace(/,?"(?:street|city|postal_code|state|country|label)":null/g, '').replace(/\{,/g, '{');

const versionNames: unknown[] = ['version', 'If-Match'];

/** The JSON without members, names and parameters that are about versions. */
export const withoutVersions = (json: string): string =>
	JSON.stringify(JSON.parse(json), (_, value: unknown) => {
		if (Array.isArray(value)) {
			return value.filter((element: { name?: string } | null) => ![element, element?.name].some((name) => versionNames.includes(name)));
		}
		if (typeof value !== 'object' || value === null) return value;
		return Object.fromEntries(Object.entries(value).filter(([name]) => !versionNames.includes(name)));
	});
