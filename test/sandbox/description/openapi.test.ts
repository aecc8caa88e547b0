import { createApp } from '../../../sandbox/app.ts';
import { namesOf } from '../../../sandbox/core/schemas/names.ts';
import { problems } from '../../../sandbox/core/foundation/problem.ts';
import { resources } from '../../../sandbox/core/schemas/index.ts';
import { Store } from '../../../sandbox/core/store/store.ts';
import { document } from '../harness/contract.ts';
import { inProcess, type Json } from '../harness/in-process.ts';

/** The names of all record types. */
const records = resources.map((resource) => namesOf(resource).Singular);

/** Every value in the document, with the path to it. */
function* walk(value: unknown, path = ''): Generator<[string, unknown]> {
	yield [path, value];
	if (typeof value !== 'object' || value === null) return;
	for (const [name, member] of Object.entries(value)) yield* walk(member, `${path}/${name}`);
}

const operations: Array<{ path: string; method: string; operation: Json }> = Object.entries<Json>(
	document.paths,
).flatMap(([path, { parameters = [], ...methods }]) =>
	Object.entries<Json>(methods).map(([method, operation]) => ({
		path,
		method: method.toUpperCase(),
		operation: { ...operation, parameters: [...parameters, ...operation.parameters] },
	})),
);

test('every reference leads somewhere', () => {
	const references = [...walk(document)].filter(([path]) => path.endsWith('/$ref'));
	expect(references.length).toBeGreaterThan(100);
	for (const [, reference] of references) {
		const parts = String(reference).split('/').slice(1);
		const target = parts.reduce((parent: Json, part) => parent?.[part], document);
		expect({ reference, target }).toEqual({ reference, target: expect.any(Object) });
	}
});

test('every operation has a unique name, and every link names one', () => {
	const names = operations.map(({ operation }) => operation.operationId);
	expect(new Set(names).size).toBe(names.length);
	for (const [path, value] of walk(document)) {
		if (/links\/\w+\/operationId$/.test(path)) expect(names).toContain(value);
	}
});

test('operations that jobs support name the job', () => {
	const parameters = operations.find(({ operation }) => operation.operationId === 'createJob')!
		.operation.parameters;
	const [builtIn, custom] = parameters.find(({ name }: Json) => name === 'resource').schema.anyOf;
	const jobs = operations.flatMap(({ operation }) => operation['x-job'] ?? []);
	expect(jobs).toHaveLength(5 * (builtIn.enum.length + 1));
	for (const { operationId, parameters: { resource } } of jobs) {
		expect(operationId).toBe('createJob');
		const isCustom = new RegExp(custom.pattern).test(resource.replace('{key}', 'x'));
		expect({ resource, isKnown: isCustom || builtIn.enum.includes(resource) }).toMatchObject({ isKnown: true });
	}
});

test('every operation lists its parameters, errors and headers', () => {
	for (const { operation, path } of operations) {
		const inPath = operation.parameters.filter((parameter: Json) => parameter.in === 'path');
		expect(inPath.map(({ name }: Json) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
		expect(operation.summary).toEqual(expect.any(String));
		// An operation without authentication has neither 401 nor a rate limit.
		const authStatuses = operation.security?.length === 0 ? [] : ['401', '429'];
		for (const status of ['405', '500', '503', ...authStatuses]) {
			expect(operation.responses).toHaveProperty(status);
		}
		for (const [status, response] of Object.entries<Json>(operation.responses)) {
			if (Number(status) >= 400) continue;
			expect(Object.keys(response.headers)).toEqual(
				expect.arrayContaining(['X-Request-Id', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']),
			);
		}
	}
});

test('every path of the service is described, except pages and the paths with which tests control it', () => {
	const app = createApp({ store: new Store(':memory:'), faults: true });
	const served = app.routes.filter(({ method, path }) => method !== 'ALL' && !path.includes('*'))
		.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
		.filter((route) => !/^\w+ \/(_sandbox|settings|docs|sign-in|sign-out|records|events|icon)\b/.test(route));
	const described = operations.map(({ method, path }) => `${method} ${path}`);
	expect([...new Set(served)].sort()).toEqual(described.sort());
});

test('every error is described, with an example', () => {
	const examples = Object.values<Json>(document.components.responses).flatMap(({ content }) =>
		Object.keys(Object.values<Json>(content)[0].examples),
	);
	// Only items of batches have this error.
	const answered = Object.keys(problems).filter((code) => code !== 'failed_dependency');
	expect(examples).toEqual(expect.arrayContaining(answered));
});

test('every described request is possible, and no other', async () => {
	const { send } = inProcess();
	for (const path of Object.keys(document.paths)) {
		const described = operations.filter((entry) => entry.path === path).map(({ method }) => method);
		const { headers } = await send('OPTIONS', path.replace('{id}', 'x'));
		const allowed = headers.get('Allow')?.split(', ') ?? [];
		expect(allowed.filter((method) => method !== 'HEAD').sort()).toEqual(described.sort());
	}
});

/** A value for a parameter, as its description suggests. */
function sample(schema: Json): string {
	if (schema.type === 'array') return sample(schema.items);
	if (schema.examples ?? schema.enum) return String((schema.examples ?? schema.enum)[0]);
	if (schema.type === 'integer') return String(schema.minimum ?? 1);
	if (schema.type === 'boolean') return 'true';
	if (schema.format === 'date-time') return '2025-03-01T09:30:00.000Z';
	return schema.pattern ? 'x.example' : 'x';
}

test('every query parameter of a list works as described', async () => {
	const { get } = inProcess({ contacts: 5 });
	for (const { operation, path } of operations) {
		if (!operation.operationId.startsWith('list')) continue;
		for (const { name, schema, examples, in: place } of operation.parameters) {
			if (name === 'cursor' || place !== 'query') continue;
			const response = await get(
				`${path.replace('{key}', 'machines')}?${name}=${encodeURIComponent(examples?.example.value ?? sample(schema))}`,
			);
			expect({ path, name, status: response.status }).toEqual({ path, name, status: 200 });
		}
	}
});

test.each(records)('%s records have the fields described', async (name) => {
	const { get } = inProcess({ contacts: 5 });
	const { properties } = document.components.schemas[name];
	const path = operations.find(({ operation }) => operation.operationId === `get${name}`)!.path;
	const { body } = await get(path.replace('/{id}', '?limit=1'));
	expect(Object.keys(body.data[0]).sort()).toEqual(Object.keys(properties).sort());
});

test.each(records)('the example of a new %s creates one, if the records it names exist', async (name) => {
	const { post } = inProcess();
	const { properties, example } = document.components.schemas[`${name}Create`];
	const independentFields = Object.entries(example).filter(
		([field]) => !properties[field]['x-resource'] && field !== 'custom_fields',
	);
	const values = Object.fromEntries(independentFields);
	if ('links' in values) {
		const { body } = await post('/v1/contacts', { last_name: 'x' });
		values.links = [{ resource: 'contacts', id: body.id }];
	}
	const path = operations.find(({ operation }) => operation.operationId === `create${name}`)!.path;
	const { status, body } = await post(path, values);
	// The service decides about fields that are null.
	const expected = JSON.parse(JSON.stringify(values, (_, value) => value ?? undefined));
	expect({ status, body }).toMatchObject({ status: 201, body: expected });
});
