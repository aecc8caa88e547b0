import type { Sandbox } from '../../sandbox/serve.ts';
import { callService } from '../sandbox/harness/call-service.ts';
import { document } from '../sandbox/harness/contract.ts';
import type { Json } from '../sandbox/harness/in-process.ts';
import { useSandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';
import { startObserved } from './observed.ts';

// Before the times in the examples.
const now = () => Date.parse('2026-03-02T10:00:00.000Z');
const sandbox = useSandbox({ now });

/** An operation, with the examples of its path, its body and the field to match on. */
interface Operation {
	id: string;
	method: string;
	path: string;
	/** The path with its parameters filled in, unless the seed has no such record. */
	address: string;
	body: Json;
	matchOn: string | undefined;
}

const { paths, components } = document;

const operations: Operation[] = Object.entries<Json>(paths).flatMap(([path, { parameters: inPath = [], ...methods }]) =>
	Object.entries<Json>(methods).map(([method, { operationId: id, requestBody, parameters }]) => {
		const schema = requestBody?.content['application/json']?.schema;
		const described = schema?.$ref ? components.schemas[schema.$ref.split('/').at(-1)] : schema;
		const matchOn: Json = parameters.find(({ name }: Json) => name === 'match_on')?.schema;
		const address = inPath.reduce(
			(filled: string, { name, example }: Json) => filled.replace(`{${name}}`, example ?? `{${name}}`), path,
		);
		const field = (matchOn?.enum ?? matchOn?.anyOf?.[0].enum)?.[0];
		return { id, method: method.toUpperCase(), path, address, body: described?.example, matchOn: field };
	}),
);

/** Sandboxes by the way of writing, so that the examples of one way have no effect on those of another. */
const sandboxes = new Map<string, Promise<Sandbox>>();
afterAll(async () => void (await Promise.all([...sandboxes.values()].map(async (started) => await (await started).close()))));

async function callerFor({ method, path }: Operation) {
	const way = `${method} ${/webhooks|(batch|\{id\})\/\w+/.exec(path)?.[0] ?? ''}`;
	const started = sandboxes.get(way) ?? startObserved({ contacts: 20, day: '2025-07-01', now });
	sandboxes.set(way, started);
	const { url, apiKey } = await started;
	return async (...request: [method: string, path: string, body?: unknown]) => await callService(url, apiKey, ...request);
}

/** Creates a record that the seed does not have. @returns its ID */
async function createMissing(call: Awaited<ReturnType<typeof callerFor>>, path: string): Promise<string> {
	const isWebhook = path.startsWith('/v1/webhooks/');
	const { example } = components.schemas[isWebhook ? 'WebhookCreate' : 'MessageCreate'];
	const message = { ...example, scheduled_at: '2026-12-31T08:00:00.000Z' };
	const { body } = await (isWebhook ? call('POST', '/v1/webhooks', example) : call('POST', '/v1/messages', message));
	return body.id;
}

/** Those of jobs follow below. Deliveries of webhooks need a receiver, and have their own tests. */
const api = operations.filter(({ path, body }) => body !== undefined || /^\/(v1\/(?!jobs|webhooks|events\/)|contacts$)/.test(path));

test.each(api)('$id: the example succeeds unchanged, and the response is as described', async (operation) => {
	const { method, path, address, body, matchOn } = operation;
	const call = await callerFor(operation);
	const target = path.endsWith('/schedule') ? path : address;
	const url = target.includes('{id}') ? target.replace('{id}', await createMissing(call, path)) : target;
	const response = await call(method, url + (matchOn === undefined ? '' : `?match_on=${matchOn}`), body);
	const errors = response.body?.results?.flatMap(({ error }: Json) => error ?? []) ?? [];
	// Other records may need the only record of a kind, and some actions are not possible on this one.
	expect(errors.filter(({ code }: Json) => code !== 'in_use')).toEqual([]);
	const isPossible = response.status < 300 || (body === undefined && response.status === 409);
	expect({ ...response, isPossible }).toMatchObject({ isPossible: true });
});

test.each(api.filter(({ path }) => path.includes('/{key}/')))(
	'$id: the response for an unknown custom object is described',
	async ({ method, path, body }) => {
		const url = path.replace('{key}', 'none').replaceAll(/\{\w+\}/g, 'x');
		expect((await sandbox.call(method, url, body && {})).status).toBe(404);
	},
);

test('jobs are as described, from their start to their results', async () => {
	const { status, body } = await sandbox.call('POST', '/v1/jobs?resource=contacts&operation=export');
	expect(status).toBe(202);
	const path = `/v1/jobs/${body['id'] as string}`;
	await until(async () => {
		const job = await sandbox.call('GET', path);
		expect(job.status).toBe(200);
		return job.body['finished_at'];
	});
	expect((await sandbox.call('POST', `${path}/cancel`)).status).toBe(409);
	expect((await sandbox.call('GET', '/v1/jobs')).status).toBe(200);
	const { credential, url } = sandbox;
	const headers = { authorization: `Bearer ${credential.apiKey}` };
	const results = await fetch(`${url}${path}/results`, { headers });
	expect((await results.text()).split('\n').length).toBeGreaterThan(25);
});

test.each(['/', '/openapi.json', '/.well-known/oauth-authorization-server'])(
	'%s is as described',
	async (path) => {
		expect((await sandbox.call('GET', path)).status).toBe(200);
	},
);
