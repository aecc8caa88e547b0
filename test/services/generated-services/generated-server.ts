import type { ServerResponse } from 'node:http';

import { startLocalServer } from '../../support/local-server.ts';
import { withWholeRequest } from '../../support/whole-request.ts';
import type { Dialect } from './dialect.ts';
import { errorBody, type GeneratedAnswer } from './error-shapes.ts';
import type { Fault } from './faults.ts';
import { GeneratedService } from './generated-service.ts';

export interface GeneratedServer {
	/** Starts a service under an address of its own. */
	open(dialect: Dialect, faults: Fault[], records: number): { service: GeneratedService; url: string };
	close(): Promise<void>;
}

export async function startGeneratedServer(): Promise<GeneratedServer> {
	const services = new Map<string, GeneratedService>();
	const { url: address, close } = await startLocalServer(withWholeRequest(({ method, url, headers, body }, response) => {
		const service = services.get(url.pathname.split('/')[1] ?? '');
		if (!service) return void response.writeHead(404).end();
		const { answer, fault } = service.handle(method, url, headers, body);
		reply(response, answer, service.dialect, fault);
	}));
	return {
		open(dialect, faults, records) {
			const name = `s${services.size + 1}`;
			const service = new GeneratedService(`/${name}`, dialect, faults, records);
			services.set(name, service);
			return { service, url: `${address}/${name}` };
		},
		close,
	};
}

function reply(response: ServerResponse, answer: GeneratedAnswer, dialect: Dialect, fault?: Fault) {
	const { kind } = fault ?? {};
	if (kind === 'drop') return void response.destroy();
	if (typeof kind === 'number') return send(response, errorBody(dialect.errors, kind, 'fault'));
	if (kind === '503 with Retry-After') {
		const refused = errorBody(dialect.errors, 503, 'busy');
		return send(response, { ...refused, headers: { ...refused.headers, 'retry-after': '2' } });
	}
	if (kind === 'error in 200') return send(response, { status: 200, body: { error: { code: 'refused', message: 'It was refused' } } });
	if (kind === 'page') return send(response, { status: 200, text: '<!doctype html><html><body>Sign in</body></html>', type: 'text/html' });
	if (kind === 'text') return send(response, { status: 200, body: 'done' });
	if (kind === 'part of the results') return send(response, withPart(answer));
	const text = textOf(answer);
	if (kind === 'cut')
		return send(response, { ...answer, status: answer.status === 204 ? 200 : answer.status, text: text.slice(0, -1) || '{' });
	if (kind !== 'slow' || text === '') return send(response, answer);
	response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
	const half = Math.floor(text.length / 2);
	response.write(text.slice(0, half));
	setTimeout(() => response.end(text.slice(half)), 5);
}

/** The answer to a batch without the last of its results. */
function withPart(answer: GeneratedAnswer): GeneratedAnswer {
	const { results } = (answer.body ?? {}) as { results?: unknown[] };
	return Array.isArray(results) ? { ...answer, body: { results: results.slice(0, -1) } } : answer;
}

function send(response: ServerResponse, answer: GeneratedAnswer) {
	const text = textOf(answer);
	response.writeHead(answer.status, { 'content-type': answer.type ?? 'application/json', ...answer.headers });
	response.end(text);
}

const textOf = ({ body, text }: GeneratedAnswer): string => text ?? (body === undefined ? '' : JSON.stringify(body));
