import type { IDataObject } from 'n8n-workflow';

import type { Sandbox, SandboxOptions } from '../../sandbox/serve.ts';
import { startObserved } from '../contract/observed.ts';
import { callService } from '../sandbox/harness/call-service.ts';
import { until } from './until.ts';

/** A running sandbox, called over HTTP. */
export interface TestSandbox {
	url: string;
	/** The values that a user enters in the credential. */
	credential: { baseUrl: string; apiKey: string };
	/** A direct call with the API key. */
	call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<{ status: number; body: IDataObject }>;
	/**
	 * Creates a record with the API key.
	 *
	 * @param collection path below `/v1/`, as for read() and list()
	 * @throws if the sandbox refuses it
	 */
	create(collection: string, values: object): Promise<TestRecord>;
	read(path: string): Promise<IDataObject>;
	/** One page of a list. */
	list<Item = TestRecord>(path: string): Promise<Item[]>;
	/** The first record of a list. */
	first(collection: string): Promise<TestRecord>;
	/** Sets what goes wrong from now on (see the sandbox's own documentation of faults). */
	faults(...faults: IDataObject[]): Promise<void>;
	/** The requests since the last faults() or clear(). */
	requests(): Promise<LoggedRequest[]>;
	/** Those requests that may have changed something. */
	writes(): Promise<LoggedRequest[]>;
	/** Waits until the sandbox has answered this many requests. */
	logged(count: number): Promise<void>;
	clear(): Promise<void>;
	/** Moves the sandbox's clock. */
	advance(seconds: number): Promise<void>;
}

type TestRecord = IDataObject & { id: string };

interface LoggedRequest {
	method: string;
	path: string;
	query: string;
	status: number;
	idempotencyKey: string | null;
}

/** One sandbox for the tests of a file. Each test starts without faults. */
export function useSandbox(options: SandboxOptions = {}): TestSandbox {
	let running: Sandbox | undefined;
	const sandbox: TestSandbox = {
		url: '',
		credential: { baseUrl: '', apiKey: '' },

		async call(...request) {
			const { status, body } = await callService(sandbox.url, sandbox.credential.apiKey, ...request);
			return { status, body: body ?? {} };
		},

		async create(collection, values) {
			const { status, body } = await sandbox.call('POST', `/v1/${collection}`, values);
			if (status !== 201) throw new Error(`The sandbox refused the record (${status}): ${JSON.stringify(body)}`);
			return body as TestRecord;
		},

		read: async (path) => (await sandbox.call('GET', `/v1/${path}`)).body,

		list: async <Item>(path: string) => (await sandbox.read(path)).data as Item[],

		first: async (collection) => (await sandbox.list(`${collection}?limit=1`))[0]!,

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

		writes: async () => (await sandbox.requests()).filter(({ method }) => method !== 'GET'),

		logged: async (count) => void (await until(async () => (await sandbox.requests()).length >= count)),

		async clear() {
			await sandbox.call('DELETE', '/_sandbox/faults');
			await sandbox.call('DELETE', '/_sandbox/requests');
		},

		advance: async (seconds) => void (await sandbox.call('POST', '/_sandbox/clock', { advance: seconds })),
	};

	beforeAll(async () => {
		running = await startObserved({
			contacts: 25,
			faults: true,
			allowPrivateWebhooks: true,
			// So that the generated data does not depend on the date.
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
