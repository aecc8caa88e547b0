import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type * as serve from '../../sandbox/serve.ts';
import { forward } from './forward.ts';

declare global {
	/** See environment.cjs. */
	function loadSandbox(): typeof serve;
}

/** Pages, whose redirects Prism would follow, and the sandbox's controls for tests. */
const pages = /^\/(_sandbox|sign-in|sign-out|settings|records|docs|oauth\/authorize)\b/;

/** One of Prism's findings. */
interface Finding {
	location: string[];
	message: string;
}

/**
 * A sandbox for tests. If Prism runs (see `jest.config.cjs` here), requests pass through it, and `close` fails
 * if a request or an answer did not conform to contract/openapi.json.
 */
export async function startObserved(options: serve.SandboxOptions): Promise<serve.Sandbox> {
	// Tests of limits set one. Others poll, on a slow machine very often.
	const sandbox = await loadSandbox().startSandbox({ requestsPerMinute: 1_000_000, ...options });
	const prism = process.env['PRISM_URL'];
	if (prism === undefined && process.env['SLOW'] === undefined) return sandbox;
	return await observe(sandbox, prism);
}

async function observe(sandbox: serve.Sandbox, prism: string | undefined): Promise<serve.Sandbox> {
	const violations = new Set<string>();
	// While faults are set, answers are not the service's own.
	let hasFaults = false;
	const underWay = new Set<Promise<unknown>>();

	const steer = async (request: IncomingMessage, response: ServerResponse) => {
		const isAboutFaults = request.url === '/_sandbox/faults';
		if (isAboutFaults && request.method === 'PUT') hasFaults = true;
		// Earlier requests are answered under the earlier faults.
		await Promise.all(underWay);
		forward(request, response, sandbox.url, {}, () => {
			if (isAboutFaults && request.method === 'DELETE') hasFaults = false;
		});
	};

	const front = createServer((request, response) => {
		const { method, url = '' } = request;
		if (url.startsWith('/_sandbox/') && method !== 'GET') return void steer(request, response);
		const end = new Promise((resolve) => response.once('close', resolve));
		underWay.add(end);
		void end.then(() => underWay.delete(end));
		if (prism === undefined || hasFaults || pages.test(url)) return forward(request, response, sandbox.url);
		const headers = { 'observed-url': sandbox.url, 'observed-host': request.headers.host };
		return forward(request, response, prism, headers, (answer) => {
			for (const { location, message } of unexcused(answer)) {
				violations.add(`${method} ${url} → ${answer.statusCode}: ${location.join('.')}: ${message}`);
			}
		});
	});
	// It shares the event loop with tests: a long computation would time connections out.
	front.keepAliveTimeout = 0;
	front.listen(0, '127.0.0.1');
	await once(front, 'listening');

	return {
		...sandbox,
		url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
		async close() {
			front.close();
			front.closeAllConnections();
			await sandbox.close();
			if (violations.size === 0) return;
			throw new Error(`Not as contract/openapi.json has it:\n${[...violations].join('\n')}`);
		},
	};
}

/** A request may violate the contract if the service refuses it (a batch: item by item). An answer may not. */
function unexcused({ statusCode, headers }: IncomingMessage): Finding[] {
	const findings = JSON.parse(String(headers['sl-violations'] ?? '[]')) as Finding[];
	const isRefusal = statusCode === 207 || (statusCode! >= 400 && statusCode! < 500);
	return findings.filter(({ location }) => location[0] !== 'request' || !isRefusal);
}
