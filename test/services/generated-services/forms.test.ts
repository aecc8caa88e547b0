import { run } from '../../support/node-runs.ts';
import { automatic, create, get, getMany } from '../../support/parameters.ts';
import { formFailure, useForms, type Form } from './form-runs.ts';

const forms = useForms();
const { credential } = forms;

const schema = {
	type: 'object', properties: { first_name: { type: 'string' }, email: { type: 'string' }, external_id: { type: 'string' } },
};
const body = { content: { 'application/json': { schema } } };
const documentOf = (operations: object, more: object = {}) => ({
	openapi: '3.1.0',
	paths: { '/v1/contacts': operations, '/v1/contacts/{id}': { get: {} } },
	...more,
});
const upsert = (on: string) => ({ ...create('contact', automatic), operation: 'upsert', fieldsMatchOn: on });
const items = [{ email: 'a@forms.example', external_id: 'x-1', first_name: 'Ada' }];

describe('a service that finds records by email unless the request names another field', () => {
	const records = new Map<string, Record<string, unknown>>();
	const answer: Form['answer'] = ({ url, body: requestBody }) => {
		const record = JSON.parse(requestBody) as Record<string, unknown>;
		const on = url.searchParams.get('on') ?? 'email';
		const found = [...records.values()].find((candidate) => candidate[on] === record[on]);
		const storedRecord = { id: `c${records.size + 1}`, ...found, ...record };
		records.set(storedRecord.id, storedRecord);
		return { body: storedRecord };
	};
	beforeEach(() => {
		records.clear();
		records.set('c1', { id: 'c1', email: 'a@forms.example', external_id: 'other', first_name: 'Grace' });
	});

	test.each([
		['an enumeration', { enum: ['email', 'external_id'] }],
		['constants', { oneOf: [{ const: 'email' }, { const: 'external_id' }] }],
	])('receives the field to match on where it takes %s', async (_, on) => {
		const mode = { name: 'mode', in: 'query', schema: { enum: ['merge', 'replace'] } };
		forms.form = {
			document: documentOf({ put: { parameters: [mode, { name: 'on', in: 'query', schema: on }], requestBody: body } }), answer,
		};
		await run({ credential: credential(), parameters: upsert('external_id'), items });
		expect(records.get('c1')).toMatchObject({ first_name: 'Grace' });
		expect(records.size).toBe(2);
	});

	test('receives no field to match on if its description does not say how', async () => {
		forms.form = { document: documentOf({ put: { requestBody: body } }), answer };
		const { message } = await formFailure({ credential: credential(), parameters: upsert('external_id'), items });
		expect(message).toMatch(/Match On: .*does not say how/);
		expect(records.size).toBe(1);
		expect(records.get('c1')).toMatchObject({ first_name: 'Grace' });
	});
});

test('text that is not in UTF-8 is refused, not replaced', async () => {
	const bytes = Buffer.from(JSON.stringify({ id: 'c1', first_name: 'Zoë' }), 'latin1');
	for (const type of ['application/json', 'application/json; charset="iso-8859-1"']) {
		forms.form = { document: documentOf({ get: {} }), answer: () => ({ type, bytes }) };
		const { message } = await formFailure({ credential: credential(), parameters: get('contact', 'c1') });
		expect(message).toContain('not text in UTF-8');
	}
});

describe('a description that cannot be read', () => {
	const answer = () => ({ body: { data: [], next_cursor: null } });
	const hints = async (document: object | string, more: object = {}) => {
		forms.form = { document, answer };
		return (await run({ credential: credential(more), parameters: getMany('contact') })).hints.join('\n');
	};

	test.each([
		'http://user:pass-word-9@HOST/tok-123456789/x/openapi.json?token=tok-123456789&v=1#frag-987654321',
		'user:pass-word-9@HOST/tok-123456789/openapi.json',
		'HOST/tok-123456789/openapi.json?token=tok-123456789',
		'http://u:pass-word-9@127.0.0.1:9/tok-123456789?token=tok-123456789',
		'localhost:3000/tok-123456789',
		'//HOST/tok-123456789',
		'tok-123456789',
	])('shows only the host of its address: %s', async (addressTemplate) => {
		const { host } = new URL(credential().baseUrl);
		const descriptionUrl = addressTemplate.replace('HOST', host);
		const hintText = await hints('nothing', { descriptionUrl });
		expect(hintText).toMatch(/The API description at .+ could not be read/);
		if (addressTemplate.startsWith('http') && addressTemplate.includes('HOST'))
			expect(hintText).toContain(`The API description at http://${host} could not be read`);
		expect(hintText).not.toMatch(/pass-word-9|tok-123456789|frag-987654321/);
	});
});

test('a key that the CRM repeats in its error does not reach the user’s data', async () => {
	const serviceCredential = credential();
	forms.form = {
		document: documentOf({ get: {} }),
		answer: ({ headers }) => ({
			status: 400, body: { message: `Bad header ${headers.authorization}`, errors: [{ detail: String(headers.authorization) }] },
		}),
	};
	const error = await formFailure({ credential: serviceCredential, parameters: get('contact', 'c1') });
	expect(error.message).toContain('Bad header');
	expect(JSON.stringify([error.message, error.description, error.context, error])).not.toContain(serviceCredential.apiKey);
});

test('the user learns which parts of a description were not read', async () => {
	const schemas = Object.fromEntries(
		Array.from({ length: 200 }, (_, i) => [`S${i}`, { allOf: [{ $ref: `#/components/schemas/S${i + 1}` }] }]),
	);
	const deep = {
		content: { 'application/json': { schema: { properties: { email: { type: 'string' }, deep: { $ref: '#/components/schemas/S0' } } } } },
	};
	forms.form = {
		document: documentOf({ post: { requestBody: deep } }, { components: { schemas } }), answer: () => ({ status: 201, body: { id: 'c1' } }),
	};
	const { hints } = await run({ credential: credential(), parameters: create('contact', automatic), items });
	expect(hints.join('\n')).toMatch(/not read: schemas/);
});

test('a value that is only blank is not reported as unknown', async () => {
	forms.form = { document: documentOf({ post: { requestBody: body } }), answer: () => ({ status: 201, body: { id: 'c1' } }) };
	const { message } = await formFailure({ credential: credential(), parameters: create('contact', automatic), items: [{ email: '' }] });
	expect(message).toMatch(/blank \(Email\)/);
});
