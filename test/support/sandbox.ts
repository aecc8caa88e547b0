import type { IDataObject } from 'n8n-workflow';

import type { Sandbox, SandboxOptions } from '../../sandbox/serve.ts';
import { startObserved } from '../contract/observed.ts';
import { callService } from '../sandbox/harness/call-service.ts';
import { until } from './until.ts';

type TestRecord = IDataObject & { id: string };

interface LoggedRequest {
	method: string;
	path: string;
	query: string;
	status: number;
	idempotencyKey: string | null;
}

export type TestSandbox = ReturnType<typeof useSandbox>;

/** One sandbox for the tests of a file, called over HTTP. Each test starts without faults. */
export function useSandbox(options: SandboxOptions = {}) {
	let running: Sandbox | undefined;
	/** Its URL, and the values that a user enters in the credential; known once it runs. */
	const service = { url: '', credential: { baseUrl: '', apiKey: '' } };

	/** A direct call with the API key. */
	const call = async (
		...request: [method: string, path: string, body?: unknown, headers?: Record<string, string>]
	): Promise<{ status: number; body: IDataObject }> => {
		const { status, body } = await callService(service.url, service.credential.apiKey, ...request);
		return { status, body: body ?? {} };
	};
	/** @param path below `/v1/`, as for create() and list() */
	const read = async (path: string) => (await call('GET', `/v1/${path}`)).body;
	/** One page of a list. */
	const list = async <Item = TestRecord>(path: string) => (await read(path)).data as Item[];
	/** The requests since the last faults() or clear(). */
	const requests = async () => {
		const { body } = await call('GET', '/_sandbox/requests');
		const logged = body as unknown as LoggedRequest[];
		return logged.filter(({ path }) => path.startsWith('/v1/'));
	};
	const clear = async () => {
		await call('DELETE', '/_sandbox/faults');
		await call('DELETE', '/_sandbox/requests');
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
		service.url = running.url;
		service.credential = { baseUrl: running.url, apiKey: running.apiKey };
	});
	beforeEach(clear);
	afterAll(async () => await running?.close());
	return Object.assign(service, {
		call,

		/**
		 * Creates a record with the API key.
		 *
		 * @throws if the sandbox refuses it
		 */
		async create(collection: string, values: object) {
			const { status, body } = await call('POST', `/v1/${collection}`, values);
			if (status !== 201) throw new Error(`The sandbox refused the record (${status}): ${JSON.stringify(body)}`);
			return body as TestRecord;
		},

		read,
		list,
		/** The first record of a list. */
		first: async (collection: string) => (await list(`${collection}?limit=1`))[0]!,

		/** Sets what goes wrong from now on (see the sandbox's own documentation of faults). */
		async faults(...faults: IDataObject[]) {
			await clear();
			const { status } = await call('PUT', '/_sandbox/faults', faults);
			if (status >= 300) throw new Error(`The sandbox refused the faults (${status})`);
		},

		requests,
		/** Those requests that may have changed something. */
		writes: async () => (await requests()).filter(({ method }) => method !== 'GET'),
		/** Waits until the sandbox has answered this many requests. */
		logged: async (count: number) => void (await until(async () => (await requests()).length >= count)),
		clear,
		/** Moves the sandbox's clock. */
		advance: async (seconds: number) => void (await call('POST', '/_sandbox/clock', { advance: seconds })),
	});
}
