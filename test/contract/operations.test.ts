import type { IDataObject } from 'n8n-workflow';
import { namesOf } from '../../sandbox/core/schemas/names.ts';
import { anyRecords } from '../../sandbox/core/schemas/custom-objects.ts';
import { resources } from '../../sandbox/core/schemas/index.ts';
import type { Resource } from '../../sandbox/core/schemas/resource.ts';
import { useSandbox } from '../support/sandbox.ts';
import { document } from '../sandbox/harness/contract.ts';
import type { Json } from '../sandbox/harness/in-process.ts';
import { until } from '../support/until.ts';

// Before the times in the examples.
const now = Date.parse('2026-01-05T10:00:00.000Z');
const sandbox = useSandbox({ now: () => now });

interface Operation {
	id: string;
	method: string;
	path: string;
	described: Json;
}

const operations: Operation[] = Object.entries<Json>(document.paths).flatMap(
	([path, { parameters: _, ...methods }]) =>
		Object.entries<Json>(methods).map(([method, described]) => ({
			id: described.operationId as string,
			method: method.toUpperCase(),
			path: path.replace('{key}', 'machines'),
			described,
		})),
);

let count = 0;

/** The values of an example, without links to other records, and with unique values unlike those of all others. */
async function valuesFor({ name, unique, properties }: Resource, example: Json): Promise<IDataObject> {
	count += 1;
	const independentFields = Object.entries<Json>(example).filter(
		([field]) => !properties[field]?.['x-resource'] && !['custom_fields', 'emails'].includes(field),
	);
	const values = Object.fromEntries(independentFields);
	for (const field of Object.values(unique).flat()) {
		const isOwn = typeof values[field] === 'string' && field !== 'resource';
		if (isOwn) values[field] = `a${count}${values[field]}`;
	}
	if (name === anyRecords.name) values['custom_fields'] = { serial_number: `a${count}` };
	if ('links' in values) values['links'] = [{ resource: 'contacts', id: await idOf('contacts') }];
	return values;
}

/** A new record. */
async function created(resource: Resource): Promise<Json> {
	const { example } = document.components.schemas[`${namesOf(resource).Singular}Create`];
	const path = `/v1/${resource.name.replace('{key}', 'machines')}`;
	const { status, body } = await sandbox.call('POST', path, await valuesFor(resource, example));
	expect({ status, body }).toMatchObject({ status: 201 });
	return body;
}

async function idOf(list: string): Promise<string> {
	const { body } = await sandbox.call('GET', `/v1/${list}?limit=1`);
	return (body as Json).data[0].id;
}

/** The body to send: the description's example, with existing records. */
async function bodyFor({ id, described }: Operation, resource: Resource): Promise<Json> {
	const schema = described.requestBody?.content['application/json'].schema;
	if (!schema?.$ref) return schema?.example;
	const { example } = document.components.schemas[schema.$ref.split('/').at(-1)];
	if (!id.startsWith('batch')) return await valuesFor(resource, example);
	const [item] = example.items;
	const target = 'id' in item ? { id: (await created(resource)).id, version: 1 } : {};
	const values = id.startsWith('batchDelete') ? {} : await valuesFor(resource, item);
	return { ...example, items: [{ ...values, ...target }] };
}

/** Jobs follow below. Webhooks need a receiver, and have their own tests. */
const api = operations.filter(({ path }) =>
	/^\/(v1\/(?!jobs|webhooks|events\/)|contacts$)/.test(path),
);

test.each(api)('$id: the example is accepted, and the response is as described', async (operation) => {
	const { method, path, described } = operation;
	const resource = [anyRecords, ...resources].find(({ name }) => name === described.tags[0]);
	let url = path;
	let body: unknown;
	if (resource) {
		if (path.includes('{id}')) url = url.replace('{id}', (await created(resource)).id);
		url = url.replace('{tag_id}', await idOf('tags'));
		body = await bodyFor(operation, resource);
		const matchOn = described.parameters.find(({ name }: Json) => name === 'match_on');
		const { anyOf: [named] = [matchOn?.schema] } = matchOn?.schema ?? {};
		if (matchOn) url += `?match_on=${named.enum[0]}`;
	}
	const response = await sandbox.call(method, url, body);
	// Some actions are not possible on new records.
	const isPossible = response.status < 300 || response.status === 409;
	expect({ ...response, isPossible }).toMatchObject({ isPossible: true });
	for (const { status } of (response.body as Json).results ?? []) expect(status).toBeLessThan(300);
});

test.each(api.filter(({ path }) => path.includes('/machines/')))(
	'$id: the response for an unknown custom object is described',
	async ({ method, path, described }) => {
		const url = path.replace('machines', 'none').replaceAll(/\{\w+\}/g, 'x');
		const body = described.requestBody && {};
		expect((await sandbox.call(method, url, body)).status).toBe(404);
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
