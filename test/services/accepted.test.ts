import type { IDataObject } from 'n8n-workflow';

import { run } from '../support/node-runs.ts';
import { automatic, create, update } from '../support/parameters.ts';
import { formFailure, useForms, type FormReply } from './form-runs.ts';

const forms = useForms();
const { credential } = forms;

const text = { type: 'string' };
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const fields = { type: 'object', properties: { first_name: text, external_id: text } };
const contact = { type: 'object', properties: { id: text, ...fields.properties } };

/** A service that stores every write and gives this reply. Its description promises these responses. */
function service(reply: (records: IDataObject[]) => FormReply, promised: object = { 200: json(contact), 201: json(contact) }) {
	const writtenRecords: IDataObject[] = [];
	const requestBody = json(fields);
	const results = {
		type: 'object',
		properties: { results: { type: 'array', items: { type: 'object', properties: { status: { type: 'integer' }, data: contact } } } },
	};
	const list = json({ type: 'object', properties: { items: { type: 'array', maxItems: 50, items: fields } } });
	const on = { name: 'match_on', in: 'query', schema: { enum: ['external_id'] } };
	const batch = (operationId: string, parameters: object[] = []) => ({
		post: { operationId, parameters, requestBody: list, responses: { 207: json(results) } },
	});
	forms.form = {
		document: {
			openapi: '3.1.0',
			paths: {
				'/v1/contacts': {
					get: {},
					post: { requestBody, responses: promised, 'x-batch': 'creates' },
					put: { requestBody, responses: promised, 'x-batch': 'upserts', parameters: [on] },
				},
				'/v1/contacts/{id}': { get: {}, patch: { requestBody, responses: promised }, delete: { responses: { 200: {} } } },
				'/v1/contacts/{id}/tags/{tag}': { put: { responses: promised } },
				'/v1/contacts/batch/create': batch('creates'),
				'/v1/contacts/batch/upsert': batch('upserts', [on]),
			},
		},
		answer({ body }) {
			const payload = JSON.parse(body || '{}') as IDataObject & { items?: IDataObject[] };
			writtenRecords.push(...(payload.items ?? [payload]));
			return reply(payload.items ?? [payload]);
		},
	};
	return writtenRecords;
}

const items = [{ first_name: 'Ada', external_id: 'a' }];
const creating = create('contact', automatic);
const writes = {
	create: creating,
	upsert: { ...creating, operation: 'upsert', fieldsMatchOn: 'external_id' },
	update: update('contact', 'c1', automatic),
	addTag: { resource: 'recordTag', kind: 'contact', operation: 'addTag', recordId: 'c1', tagId: 't1' },
};

test.each(Object.keys(writes) as Array<keyof typeof writes>)(
	'%s answered without the record that the description promises is not a success, and may have been written',
	async (operation) => {
		const writtenRecords = service(() => ({ status: 200, body: { ok: true } }));
		const error = await formFailure({ credential: credential(), parameters: writes[operation], items });
		expect(error.message).toBe('The CRM accepted the write (200), but no record came back');
		expect(error.description).toContain('may have been written');
		expect(writtenRecords).toHaveLength(1);
	},
);

describe.each(['create', 'upsert'] as const)('a batch of %s', (operation) => {
	const several = ['a', 'b', 'c'].map((name) => ({ first_name: name, external_id: name }));
	const resultsOf = (result: (name: unknown) => object) => (records: IDataObject[]): FormReply => ({
		status: 207,
		body: { results: records.map(({ first_name }, index) => ({ index, status: 201, ...result(first_name) })) },
	});
	const setup = () => ({ credential: credential(), parameters: writes[operation], items: several, continueOnFail: true });

	test('reports failures for the items whose record was not returned, and for no others', async () => {
		service(resultsOf((name) => (name === 'b' ? {} : { data: { id: `id-${name}`, first_name: name } })));
		const { items: out } = await run(setup());
		expect(out.map(({ json: output }) => output.id ?? output.error)).toEqual([
			'id-a', 'The CRM accepted the write (201), but no record came back', 'id-c',
		]);
	});
});
