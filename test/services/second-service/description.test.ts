import { createApp } from './app.ts';
import { secondDocument } from './description/document.ts';
import { parameters } from './description/described-parameters.ts';
import { schemas } from './description/described-schemas.ts';
import { company, contact } from './record-types.ts';

const apiKey = 'secret';
const app = createApp({ apiKey, people: 20, requests: [] });
const authorization = `Bearer ${apiKey}`;

/** A value every schema of the description accepts, by type and format. */
const examples: Record<string, unknown> = {
	date: '2024-02-29',
	'date-time': '2024-02-29T12:00:00Z',
	email: 'new@people.example',
	string: 'Text',
	integer: 5,
	boolean: true,
};
interface ValueSchema {
	type?: string;
	format?: string;
	enum?: readonly unknown[];
}
const example = (schema: ValueSchema) =>
	schema.enum?.[0] ?? examples[schema.format ?? ''] ?? examples[schema.type ?? ''];

test('the description can be read by anyone, without a key', async () => {
	const response = await app.request('/openapi.json');
	expect(await response.json()).toEqual(secondDocument);
});

test('every reference in the description leads somewhere', () => {
	const references = JSON.stringify(secondDocument).matchAll(/"#\/([^"]+)"/g);
	for (const [, path = ''] of references) {
		const target = path
			.split('/')
			.reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], secondDocument);
		expect([path, typeof target]).toEqual([path, 'object']);
	}
});

test.each(['contacts', 'companies'] as const)(
	'every query parameter the list of %s names is accepted, and no other exists',
	async (path) => {
		const { get } = secondDocument.paths[`/${path}`] as { get: { parameters: Array<{ $ref: string }> } };
		const named = get.parameters.map(({ $ref }) => {
			const name = $ref.split('/').at(-1) as keyof typeof parameters;
			return parameters[name];
		});
		for (const { name, schema } of named.filter(({ name }) => name !== 'after')) {
			const query = new URLSearchParams({ [name]: String(example(schema)) });
			const headers = { authorization };
			const response = await app.request(`/v1/${path}?${query}`, { headers });
			expect([name, response.status]).toEqual([name, 200]);
		}
		const { filters } = path === 'contacts' ? contact : company;
		expect(named.map(({ name }) => name)).toEqual([
			'after',
			'page_size',
			'order',
			...Object.keys(filters),
		]);
	},
);

test.each([
	['contacts', schemas.ContactFields, contact],
	['companies', schemas.CompanyFields, company],
] as const)('every field described for %s can be written, and no other exists', async (...row) => {
	const [path, { properties }, { fields }] = row;
	const body: Record<string, unknown> = {};
	for (const [name, schema] of Object.entries(properties)) {
		body[name] = example('$ref' in schema ? schemas.Segment : schema);
	}
	if ('employer_id' in body) body['employer_id'] = 'firm-000001';
	const response = await app.request(`/v1/${path}`, {
		method: 'POST',
		headers: { authorization, 'content-type': 'application/json', 'x-idempotency-key': path },
		body: JSON.stringify(body),
	});
	expect(await response.json()).toMatchObject(body);
	expect(Object.keys(properties)).toEqual(Object.keys(fields.shape));
});
