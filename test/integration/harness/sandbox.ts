import type { IDataObject } from 'n8n-workflow';

import type { Sandbox, SandboxOptions } from '../../../sandbox/serve.ts';
import { startObserved } from '../../conformance/observed.ts';
import { until } from '../../until.ts';

/** A running sandbox, as a test sees it: from outside, over HTTP. */
export interface TestSandbox {
	url: string;
	/** What a user would enter in the credential. */
	credential: { baseUrl: string; apiKey: string };
	/** A direct call with the API key. */
	call(method: string, path: string, body?: unknown): Promise<{ status: number; body: IDataObject }>;
	/** What goes wrong from now on (see the sandbox's own documentation of faults). */
	faults(...faults: IDataObject[]): Promise<void>;
	/** The requests since the last faults() or clear(). */
	requests(): Promise<LoggedRequest[]>;
	/** Waits until so many requests were answered. */
	logged(count: number): Promise<void>;
	clear(): Promise<void>;
}

export interface LoggedRequest {
	method: string;
	path: string;
	query: string;
	status: number;
	idempotencyKey: string | null;
}

/** One sandbox for the tests of a file, without faults at the start of each. */
export function useSandbox(options: SandboxOptions = {}): TestSandbox {
	let running: Sandbox | undefined;
	const sandbox: TestSandbox = {
		url: '',
		credential: { baseUrl: '', apiKey: '' },

		async call(method, path, body) {
			const response = await fetch(sandbox.url + path, {
				method,
				headers: {
					authorization: `Bearer ${sandbox.credential.apiKey}`,
					...(body === undefined ? {} : { 'content-type': 'application/json' }),
				},
				...(body === undefined ? {} : { body: JSON.stringify(body) }),
			});
			const text = await response.text();
			return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
		},

		async faults(...faults) {
			await sandbox.clear();
			const { status } = await sandbox.call('PUT', '/_sandbox/faults', faults);
			if (status >= 300) throw new Error(`The sandbox refused the faults (${status})`);
		},

		async requests() {
			const { body } = await sandbox.call('GET', '/_sandbox/requests');
			const logged = body as unknown as LoggedRequest[];
			return logged.filter(({ path }) => path.startsWith('/v1/'));
		},

		async logged(count) {
			await until(async () => (await sandbox.requests()).length >= count);
		},

		async clear() {
			await sandbox.call('DELETE', '/_sandbox/faults');
			await sandbox.call('DELETE', '/_sandbox/requests');
		},
	};

	beforeAll(async () => {
		running = await startObserved({
			contacts: 25,
			faults: true,
			allowPrivateWebhooks: true,
			// The generated data is the same on every day of the year.
			day: '2025-07-01',
			...options,
		});
		sandbox.url = running.url;
		sandbox.credential = { baseUrl: running.url, apiKey: running.apiKey };
	});
	beforeEach(async () => await sandbox.clear());
	afterAll(async () => await running?.close());
	return sandbox;
}
