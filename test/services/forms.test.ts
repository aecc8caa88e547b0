import { failure, run } from '../support/node-runs.ts';
import { automatic, create, get, getMany } from '../support/parameters.ts';
import { useForms } from './form-runs.ts';

const forms = useForms();
const { credential } = forms;

const schema = {
	type: 'object', properties: { first_name: { type: 'string' }, email: { type: 'string' }, external_id: { type: 'string' } },
};
const body = { content: { 'application/json': { schema } } };
const documentOf = (operations: object) => ({ openapi: '3.1.0', paths: { '/v1/contacts': operations, '/v1/contacts/{id}': { get: {} } } });
const upsert = (on: string) => ({ ...create('contact', automatic), operation: 'upsert', fieldsMatchOn: on });
const items = [{ email: 'a@forms.example', external_id: 'x-1', first_name: 'Ada' }];

test('an upsert is not sent if the description does not say how the field to match on is named', async () => {
	const answer = jest.fn(() => ({ body: {} }));
	forms.form = { document: documentOf({ put: { requestBody: body } }), answer };
	const { message } = await failure({ credential: credential(), parameters: upsert('external_id'), items });
	expect(message).toMatch(/Match On: .*does not say how/);
	expect(answer).not.toHaveBeenCalled();
});

test('text that is not in UTF-8 is refused, not replaced', async () => {
	const bytes = Buffer.from(JSON.stringify({ id: 'c1', first_name: 'Zoë' }), 'latin1');
	for (const type of ['application/json', 'application/json; charset="iso-8859-1"']) {
		forms.form = { document: documentOf({ get: {} }), answer: () => ({ type, bytes }) };
		const { message } = await failure({ credential: credential(), parameters: get('contact', 'c1') });
		expect(message).toContain('not text in UTF-8');
	}
});

test.each([
	'http://user:pass-word-9@HOST/tok-123456789/x/openapi.json?token=tok-123456789&v=1#frag-987654321',
	'user:pass-word-9@HOST/tok-123456789/openapi.json',
	'HOST/tok-123456789/openapi.json?token=tok-123456789',
	'http://u:pass-word-9@127.0.0.1:9/tok-123456789?token=tok-123456789',
	'localhost:3000/tok-123456789',
	'//HOST/tok-123456789',
	'tok-123456789',
])('of the address of a description that cannot be read, a hint shows only the host: %s', async (addressTemplate) => {
	forms.form = { document: 'nothing', answer: () => ({ body: { data: [], next_cursor: null } }) };
	const { host } = new URL(credential().baseUrl);
	const descriptionUrl = addressTemplate.replace('HOST', host);
	const hint = (await run({ credential: credential({ descriptionUrl }), parameters: getMany('contact') })).hints.join('\n');
	expect(hint).toMatch(/The API description at .+ could not be read/);
	if (/^http.*HOST/.test(addressTemplate)) expect(hint).toContain(`The API description at http://${host} could not be read`);
	expect(hint).not.toMatch(/pass-word-9|tok-123456789|frag-987654321/);
});

test('a key that the CRM repeats in its error does not reach the user’s data', async () => {
	const serviceCredential = credential();
	forms.form = {
		document: documentOf({ get: {} }),
		answer: ({ headers }) => ({
			status: 400, body: { message: `Bad header ${headers.authorization}`, errors: [{ detail: String(headers.authorization) }] },
		}),
	};
	const error = await failure({ credential: serviceCredential, parameters: get('contact', 'c1') });
	expect(error.message).toContain('Bad header');
	expect(JSON.stringify([error.message, error.description, error.context, error])).not.toContain(serviceCredential.apiKey);
});
