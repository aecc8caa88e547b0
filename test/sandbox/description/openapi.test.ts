import { createApp } from '../../../sandbox/app.ts';
import { namesOf } from '../../../sandbox/core/schemas/names.ts';
import { problems } from '../../../sandbox/core/foundation/problem.ts';
import { resources } from '../../../sandbox/core/schemas/index.ts';
import { Store } from '../../../sandbox/core/store/store.ts';
import { document } from '../harness/contract.ts';
import { inProcess, type Json } from '../harness/in-process.ts';
import { customEventTypes, eventTypes } from '../../../sandbox/domain/events/event-types.ts';

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

test('every operation has a unique name, and every link names one', () => {
	const names = operations.map(({ operation }) => operation.operationId);
	expect(new Set(names).size).toBe(names.length);
	for (const [path, value] of walk(document)) {
		if (/links\/\w+\/operationId$|x-batch$/.test(path)) expect(names).toContain(value);
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

test('contacts without a version respond as those with one, and the description calls them deprecated', async () => {
	const { get } = inProcess({ contacts: 20 });
	expect((await get('/contacts?limit=5')).body).toEqual((await get('/v1/contacts?limit=5')).body);
	const { paths } = (await get('/openapi.json')).body;
	expect([paths['/contacts'].get.deprecated, paths['/v1/contacts'].get.deprecated]).toEqual([true, undefined]);
});

const { schemas } = document.components;
const offered: string[] = schemas.EventPattern.anyOf[0].enum;

test('every type of event is described with its payload and an example of it', () => {
	const types = [...eventTypes, ...customEventTypes].map(({ type }) => type);
	expect(Object.keys(document.webhooks)).toEqual(types);
	for (const [type, { post }] of Object.entries<Json>(document.webhooks)) {
		const { schema } = post.requestBody.content['application/json'];
		const { example } = schema;
		const { properties, required } = schemas[schema.$ref.split('/').at(-1)];
		expect(Object.keys(example)).toEqual(required);
		expect(Object.keys(properties)).toEqual(required);
		expect(properties.type.enum ?? [type]).toContain(type);
		const record = properties.data.properties.object.$ref.split('/').at(-1);
		expect(Object.keys(example.data.object)).toEqual(Object.keys(schemas[record].properties));
	}
});

test('every offered type can be subscribed to, all together and individually', async () => {
	const { post } = inProcess();
	// Paused, so that nothing is sent.
	const about = { url: 'https://x.example', status: 'paused' };
	const subscribe = (events: string[]) => post('/v1/webhooks', { ...about, events });
	const described = Object.keys(document.webhooks).filter((type) => !type.includes('{key}'));
	expect(offered).toEqual(expect.arrayContaining(['*', 'contact.*', 'custom.*', ...described]));
	expect((await subscribe(offered)).status).toBe(201);
	for (const event of offered) expect((await subscribe([event])).status).toBe(201);
	// Events of custom objects are offered as a pattern.
	const { pattern, examples } = schemas.EventPattern.anyOf[1];
	const custom = [...examples, 'custom.machines.*', 'custom.machines.deleted'];
	for (const event of custom) expect(event).toMatch(new RegExp(pattern));
	expect((await subscribe(custom)).status).toBe(201);
});

test.each(records)('the forms for %s are flat and labeled', (name) => {
	for (const form of ['Create', 'Update', 'Upsert']) {
		const { properties, ...schema } = schemas[name + form];
		expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
		expect(JSON.stringify(properties)).not.toMatch(/"(anyOf|allOf|oneOf|\$ref|readOnly)"/);
		for (const property of Object.values<Json>(properties)) {
			const label = { title: expect.any(String), description: expect.any(String) };
			expect(property).toMatchObject({ ...label, type: expect.anything() });
		}
	}
});

test.each(records)('%s marks about eight fields for the beginning of a form', (name) => {
	const markedOf = (schema: string): string[] =>
		Object.entries<Json>(schemas[schema].properties).filter(([, property]) => property['x-important'] === true)
			.map(([field]) => field);
	const marked = markedOf(name);
	expect(marked.length).toBeGreaterThanOrEqual(3);
	expect(marked.length).toBeLessThanOrEqual(9);
	// Required fields are among them, in every form.
	expect(marked).toEqual(expect.arrayContaining(schemas[`${name}Create`].required ?? []));
	for (const form of ['Create', 'Update', 'Upsert']) {
		const fields = Object.keys(schemas[name + form].properties);
		expect(markedOf(name + form)).toEqual(marked.filter((field) => fields.includes(field)));
	}
});

test('every option of a field has a label for people', () => {
	const choices = Object.values<Json>(schemas).flatMap(({ properties = {} }) =>
		Object.values<Json>(properties).filter(({ title, enum: options }) => title && options),
	);
	expect(choices.length).toBeGreaterThan(50);
	for (const { enum: options, 'x-enum-labels': labels } of choices) {
		const named = options.filter((option: unknown) => option !== null);
		expect(Object.keys(labels)).toEqual(named);
		for (const label of Object.values(labels)) expect(label).toMatch(/^[A-Z][\w -]*$/);
	}
	const { channel } = schemas.Message.properties;
	expect(channel['x-enum-labels']).toMatchObject({ sms: 'SMS', webchat: 'Web Chat', email: 'Email' });
});
