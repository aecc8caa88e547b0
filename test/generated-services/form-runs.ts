import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { systemClock } from '../../nodes/CrmPlatform/base/clock';
import { run } from '../integration/harness/node-runs.ts';

/** A service whose description and answers are those of one test. */
export interface Form {
	document: object | string;
	answer(request: FormRequest): FormReply | 'drop';
}

interface FormRequest {
	method: string;
	path: string;
	query: URLSearchParams;
	headers: IncomingHttpHeaders;
	body: string;
}

export interface FormReply {
	status?: number;
	type?: string;
	headers?: Record<string, string>;
	body?: unknown;
	bytes?: Buffer;
}

/** Serves the form that a test has set. */
export function useForms() {
	let server: Server;
	const forms = { form: undefined as unknown as Form, credential };
	beforeAll(async () => {
		server = createServer((request, response) => {
			const chunks: Buffer[] = [];
			request.on('data', (chunk: Buffer) => chunks.push(chunk));
			request.on('end', () => {
				const url = new URL(request.url ?? '/', 'http://forms.example');
				const { document, answer } = forms.form;
				const isDocument = url.pathname.endsWith('openapi.json');
				const reply: FormReply | 'drop' = isDocument
					? { body: document }
					: answer({ method: request.method ?? '', path: url.pathname, query: url.searchParams, headers: request.headers, body: Buffer.concat(chunks).toString() });
				if (reply === 'drop') return void response.destroy();
				const { status = 200, type = 'application/json', headers, body, bytes } = reply;
				response.writeHead(status, { 'content-type': type, ...headers });
				response.end(bytes ?? (typeof body === 'string' ? body : JSON.stringify(body)));
			});
		});
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		jest.spyOn(systemClock, 'sleep').mockImplementation(async () => undefined);
	});
	afterAll(async () => await new Promise((resolve) => server.close(resolve)));

	let services = 0;
	/** Each test is a service of its own, so that no description is remembered. */
	function credential(more: object = {}) {
		return {
			baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/s${(services += 1)}`,
			apiKey: `secret-key-${services}-of-the-user`,
			...more,
		};
	}
	return forms;
}

/** What the node fails with. */
export async function formFailure(setup: Parameters<typeof run>[0]): Promise<NodeApiError | NodeOperationError> {
	const outcome: unknown = await run(setup).catch((error: unknown) => error);
	if (outcome instanceof NodeApiError || outcome instanceof NodeOperationError) return outcome;
	throw new Error('The node did not fail as a node does', { cause: outcome });
}
