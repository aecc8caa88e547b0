import { NodeApiError, type IDataObject, type IHookFunctions, type INode } from 'n8n-workflow';

import { batchAnswers } from '../../nodes/CrmPlatform/api/batchAnswers';
import type { Connection } from '../../nodes/CrmPlatform/api/connection';
import { readCustomFields } from '../../nodes/CrmPlatform/api/customFields';
import { readAnswer } from '../../nodes/CrmPlatform/api/http/request';
import { problemOf, type Problem } from '../../nodes/CrmPlatform/api/http/problem';
import { readPages } from '../../nodes/CrmPlatform/api/lists/pages';
import { describeResource } from '../../nodes/CrmPlatform/api/openapi/description';
import { readEventCatalog } from '../../nodes/CrmPlatform/api/openapi/eventTypes';
import { loadDocument } from '../../nodes/CrmPlatform/api/openapi/document';
import { parseOpenApi } from '../../nodes/CrmPlatform/api/openapi/openapi';
import { systemClock } from '../../nodes/CrmPlatform/base/clock';
import type { NodeRun } from '../../nodes/CrmPlatform/model';
import { ensureSubscription } from '../../nodes/CrmPlatform/trigger/webhook/subscription';
import { recordInAnswer } from '../../nodes/CrmPlatform/writing/sendAlone';
import { describeContacts, documentWith, fieldsOf, json, listWith, query } from './described-document.ts';

/** The rules of docs/reference/service.md, each with what is kept, and what is refused or absent. Rule 7: test/http/rate-limit-headers. */

const nested = (levels: number) => `{"openapi":"3.1.0","paths":{},"components":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;

test.each<[string, string, RegExp | undefined]>([
	['OpenAPI 3.0', '{"openapi":"3.0.3","paths":{}}', undefined],
	['OpenAPI 3.1', '{"openapi":"3.1.0","paths":{}}', undefined],
	['Swagger', '{"swagger":"2.0","paths":{}}', /not an OpenAPI 3 document.* rule 1 /],
	['OpenAPI 4', '{"openapi":"4.0.0","paths":{}}', /not an OpenAPI 3 document.* rule 1 /],
	['no paths', '{"openapi":"3.1.0"}', /no paths.* rule 1 /],
	['YAML', 'openapi: 3.1.0\npaths: {}', /not JSON.* begins with: openapi/],
	['more than 5 MB', `{"openapi":"3.1.0","paths":{},"x":"${'x'.repeat(5_000_000)}"}`, /more than 5 MB.* rule 1 /],
	['nesting without end', nested(5_000), /200 levels deep.* rule 1 /],
	['in several documents', '{"openapi":"3.1.0","paths":{"/v1/contacts":{"$ref":"other.json#/A"}}}', /other documents.* rule 1 /],
])('rule 1: the description is OpenAPI 3 as JSON: %s', async (name, text, notice) => {
	const address = `https://${name.replaceAll(' ', '-')}.example`;
	const signed = async () => await Promise.resolve({ status: 200, headers: {}, text });
	const loaded = await loadDocument({ url: `${address}/openapi.json`, address, viewer: 'k', signed, anonymous: signed }, systemClock);
	expect(loaded.isPackaged).toBe(notice !== undefined);
	expect(loaded.notice ?? '').toMatch(notice ?? /^$/);
});

test.each([
	[{ patch: {} }, { method: 'PATCH' }],
	[{ put: {} }, { method: 'PUT', replaces: true }],
	[{ patch: {}, put: {} }, { method: 'PATCH' }],
	[{ post: {} }, undefined],
])('rule 2: an update is PATCH, or PUT of the whole record: %j', (verbs, update) => {
	const description = describeResource(documentWith({ '/v1/contacts': { get: {} }, '/v1/contacts/{id}': verbs }), '/contacts');
	if (update) expect(description?.update).toMatchObject(update);
	else expect(description?.update).toBeUndefined();
});

test.each([['post', false, false, true], ['post', true, true, true], ['post', true, false, false], ['patch', true, false, true]])(
	'rules 5 and 13: a batch that creates has a key if single writes have one: %s, key of a write %p, of a batch %p',
	(verb, single, batch, isUsed) => {
		const parameters = (isKeyed: boolean) => (isKeyed ? [{ name: 'Idempotency-Key', in: 'header', schema: { type: 'string' } }] : []);
		const items = { type: 'array', maxItems: 100, items: { type: 'object' } };
		const body = { requestBody: json({ type: 'object', properties: { items } }) };
		const create = { operationId: 'createContacts', parameters: parameters(batch), ...body };
		const paths = {
			...(verb === 'patch' && { '/v1/contacts': { get: {} } }),
			[verb === 'post' ? '/v1/contacts' : '/v1/contacts/{id}']: {
				[verb]: { 'x-batch': 'createContacts', parameters: parameters(single), requestBody: json({ type: 'object' }) },
			},
			'/v1/contacts/batch/create': { post: create },
		};
		const { create: creation, update } = describeResource(documentWith(paths), '/contacts')!;
		expect((creation ?? update)?.batch !== undefined).toBe(isUsed);
	},
);

describe('rules 3, 4 and 20: a list', () => {
	const list = { cursor: 'cursor' };
	const data = [{ id: 1 }, { id: '2' }];
	const read = async (...bodies: object[]) => {
		const ids: unknown[] = [];
		const send = async () => ({ status: 200, headers: {}, body: bodies.length > 1 ? bodies.shift() : bodies[0] });
		for await (const { records } of readPages(send, { path: '/contacts', list, query: {} })) ids.push(...records.map(({ id }) => id));
		return ids;
	};

	test.each<[string, object[], number]>([
		['ends with a cursor of null', [{ data, next_cursor: null }], 2],
		['ends without a cursor if the total is reached', [{ data, total: 2 }], 2],
		['continues with a text', [{ data, next_cursor: 'b' }, { data: [{ id: 3 }], next_cursor: null, total: 3 }], 3],
	])('%s', async (_, bodies, count) => expect(await read(...bodies)).toHaveLength(count));

	test.each<[string, object[], RegExp]>([
		['a record without an id', [{ data: [{ id: null }], next_cursor: null }], /id of a record of \/v1\/contacts: .*rule 3 /],
		['an id that is not whole', [{ data: [{ id: 1.5 }], next_cursor: null }], /rule 3 /],
		['a cursor and a total that are missing', [{ data }], /rule 4 /],
		['a cursor that is a number', [{ data, next_cursor: 2, total: 2 }], /next_cursor of \/v1\/contacts: .*rule 4 /],
		['a cursor elsewhere', [{ data, total: 9, paging: { next: 'b' } }], /9 records, but the CRM returned only 2.*rule 20 /],
		['a total that is never reached', [{ data, next_cursor: 'b' }, { data: [{ id: 3 }], next_cursor: null, total: 9 }], /rule 20 /],
		['a page that repeats', [{ data, next_cursor: 'b' }], /same page twice.*rule 20 /],
	])('with %s is refused', async (_, bodies, message) => {
		if (/never reached/.test(_)) bodies.push(...bodies, ...bodies);
		await expect(read(...bodies)).rejects.toThrow(message);
	});
});

test('rule 5: roles of parameters go by one table of names; others are filters', () => {
	const described = listWith(
		query('page_token', { type: 'string' }), query('per_page', { type: 'integer', maximum: 20 }), query('order_by', { enum: ['name'] }),
		query('search', { type: 'string' }), query('select', { type: 'string' }), query('where', { type: 'string' }),
	);
	expect(described).toMatchObject({
		cursor: 'page_token', pageSize: { name: 'per_page', maximum: 20 }, sort: { name: 'order_by', values: ['name'] },
		search: 'search', fields: 'select', filters: [{ name: 'search' }, { name: 'where' }],
	});
	expect(listWith(query('from_here', {})).cursor).toBe('cursor');
});

test.each<[object, object | undefined]>([
	[{ type: 'string' }, {}],
	[{ type: 'string', maxLength: 64 }, { idempotencyKey: { maxLength: 64 } }],
	[{ type: 'string', format: 'uuid', maxLength: 36 }, { idempotencyKey: { isUuid: true } }],
	[{ type: 'string', maxLength: 63 }, undefined],
	[{ type: 'string', pattern: '^[0-9a-f]{64}$' }, undefined],
])('rule 6: a key is a text of at least 64 characters, or a UUID: %j', (schema, expected) => {
	const create = (name: string) => describeContacts({}, { parameters: [{ name, in: 'header', schema }] }).create;
	const { idempotencyHeader, idempotencyKey } = create('x-idempotency-key');
	expect(idempotencyHeader).toBe(expected && 'x-idempotency-key');
	expect(idempotencyKey).toEqual((expected as { idempotencyKey?: object } | undefined)?.idempotencyKey);
	expect(create('Idempotency-Key-TTL').idempotencyHeader).toBeUndefined();
	const header = { name: 'Idempotency-Key', in: 'header', required: true, schema };
	const { refusal = '' } = describeContacts({}, { parameters: [header] }).create;
	expect(refusal).toMatch(expected ? /^$/ : /^Header Idempotency-Key: .*rule 6 /);
});

test.each<[unknown, string]>([
	[
		{ detail: 'No such thing', errors: [{ pointer: '/email', detail: 'is taken' }] }, 'No such thing\nemail: is taken'],
	[{ message: 'No such thing' }, 'No such thing'],
	[{ error: 'No such thing' }, 'No such thing'],
	[{ error: { message: 'No such thing' } }, 'No such thing'],
	[{ errors: [{ message: 'No such thing' }] }, 'No such thing'],
	['No such thing', 'No such thing'],
	[{ fields: { email: ['is taken'] } }, 'The CRM refused the request (400)'],
])('rule 8: the text of an error is shown: %j', (body, words) => {
	const text = typeof body === 'string' ? body : JSON.stringify(body);
	const { message, description } = problemOf({ status: 400, headers: {}, text });
	expect(`${message}\n${description}`).toContain(words);
});

describe('rule 9: the response to a write', () => {
	const written = (answer: { record?: IDataObject; status: number }, id?: string, more: object = {}) => {
		const failure = (problem: Problem) => new NodeApiError({ name: 'n' } as INode, {}, problem);
		const api = { failure, isSelfDescribed: () => true } as unknown as Connection;
		return recordInAnswer({ api } as NodeRun, { method: 'POST', ...more }, id, { record: undefined, ...answer });
	};

	test.each<[string, { record?: IDataObject; status: number }, string | undefined, object, IDataObject]>([
		['a new record', { record: { id: 'x', name: 'A' }, status: 201 }, undefined, {}, { id: 'x', name: 'A' }],
		['its id as a number', { record: { id: 7 }, status: 201 }, undefined, {}, { id: 7 }],
		['204 to an update', { status: 204 }, 'x', { method: 'PATCH' }, { id: 'x' }],
		['204 to a deletion', { status: 204 }, 'x', { method: 'DELETE' }, { id: 'x' }],
		['what an action returns', { record: { recovered: 4 }, status: 202 }, 'x', {}, { id: 'x', recovered: 4 }],
		['200 to a deletion', { record: { deleted: true }, status: 200 }, 'x', { method: 'DELETE' }, { id: 'x', deleted: true }],
	])('is %s', (_, answer, id, more, expected) => expect(written(answer, id, more)).toEqual(expected));

	test.each<[{ record?: IDataObject; status: number }, string | undefined, object, RegExp]>([
		...[undefined, {}, { ok: true }, { id: null }].map((record): [{ record?: IDataObject; status: number }, undefined, object, RegExp] => [
			{ status: 201, ...(record && { record: record }) }, undefined, {}, /^This breaks rule 9 .*may have been written/]),
		[{ status: 202, record: { id: 'job_1' } }, undefined, {}, /^This breaks rule 9 /],
		[{ status: 200, record: { ok: true } }, 'x', { method: 'PATCH' }, /^This breaks rule 9 /],
		[{ status: 200, record: { id: 'y' } }, 'x', { method: 'PATCH' }, /^This breaks rule 20 .*may have been written/],
		[{ status: 200, record: { id: 'X' } }, 'x', { method: 'PATCH' }, /^This breaks rule 20 /],
		[{ status: 200, record: { deleted: false } }, 'x', { method: 'DELETE' }, /^This breaks rule 20 .*Check the record/],
	])('is no success if it is %j', (answer, id, more, description) => {
		expect(written(answer, id, more)).toMatchObject({ description: expect.stringMatching(description) as string });
	});
});

const contactFields = { properties: { email: { type: 'string' }, external_id: { type: 'string' } } };

test.each<[string, object[], object | undefined]>([
	['a list', [query('match_on', { enum: ['email'] }), query('mode', { enum: ['merge'] })], { name: 'match_on', values: ['email'] }],
	['a required one', [{ ...query('key', { enum: ['external_id'] }), required: true }], { name: 'key', whenBlank: 'external_id' }],
	['one that lists none', [query('match_on', { type: 'string' })], undefined],
	['two', [query('one', { enum: ['email'] }), query('two', { enum: ['email'] })], undefined],
	['one beside the fields to return', [query('fields', { enum: ['email'] }), query('match_on', { enum: ['email'] })], { name: 'match_on' }],
	['none but the fields to return', [query('fields', { enum: ['email'] })], undefined],
])('rule 10: an upsert has a parameter that lists unique fields: %s', (_, parameters, match) => {
	const document = documentWith({ '/v1/contacts': { get: {}, put: { parameters, requestBody: json(contactFields) } } });
	const upsert = describeResource(document, '/contacts')?.upsert;
	if (match) expect(upsert?.match).toMatchObject(match);
	else expect(upsert?.match).toBeUndefined();
});

test('rule 11: lists are separated by commas, and times have the names of the contract', () => {
	const several = { name: 'status', in: 'query', schema: { type: 'array', items: { type: 'string' } } };
	expect(listWith({ ...several, explode: false }).filters).toMatchObject([{ kind: 'list' }]);
	expect(listWith(several).filters).toEqual([]);
	const times = (...names: string[]) => listWith(...names.map((name) => query(name, { type: 'string', format: 'date-time' })));
	expect(times('created_at[gte]', 'created_at[lt]', 'updated_since', 'include_deleted')).toMatchObject({
		created: { field: 'created_at' }, changed: { since: 'updated_since' }, deleted: { parameter: 'include_deleted' },
	});
	expect(times('created_at[gte]', 'modified_since')).not.toMatchObject({ created: {} });
	expect(times('modified_since').changed).toBeUndefined();
});

test('rule 12: a version is compared by If-Match, or by the version of an item of a batch', () => {
	const items = { type: 'array', maxItems: 9, items: { properties: { id: { type: 'string' }, version: { type: 'integer' } } } };
	const update = (header: string, schema: object) =>
		describeResource(
			documentWith({
				'/v1/contacts': { get: {} },
				'/v1/contacts/{id}': { patch: { 'x-batch': 'many', parameters: [{ name: header, in: 'header', schema: {} }] } },
				'/v1/contacts/batch/update': { post: { operationId: 'many', requestBody: json({ properties: { items: schema } }) } },
			}),
			'/contacts',
		)?.update;
	expect(update('If-Match', items)).toMatchObject({ takesIfMatch: true, batch: { takesVersion: true } });
	const without = update('X-Version', { ...items, items: { properties: { id: { type: 'string' }, etag: { type: 'string' } } } });
	expect([without?.takesIfMatch, without?.batch?.takesVersion]).toEqual([undefined, undefined]);
});

describe('rules 13 and 20: the results of a batch', () => {
	const outcomes = (items: IDataObject[], results: unknown, areNew = false) =>
		batchAnswers({ headers: {}, body: { results } }, items, areNew)
			.map((outcome) => ('record' in outcome ? outcome.record?.id : outcome.problem.message));
	const nothing = 'The CRM returned no result for this record';
	const items = [{ id: 'a' }, { id: '7' }];
	const result = (index: number, id?: unknown, more: object = {}) => ({ index, status: 200, ...(id !== undefined && { id }), ...more });

	test.each<[string, unknown, unknown[]]>([
		['by index, in any order', [result(1, 7), result(0, 'a')], ['a', '7']],
		['with the id in the record', [result(0, undefined, { data: { id: 'a' } }), result(1)], ['a', undefined]],
		['with an error of one', [{ index: 0, status: 422, error: { detail: 'a is refused' } }, result(1, '7')], ['a is refused', '7']],
		['without one', [result(1, '7')], [nothing, '7']],
		['with a success that has an error', [result(0, 'a', { error: { detail: 'a is refused' } }), result(1, '7')], ['a is refused', '7']],
	])('are understood %s', (_, results, expected) => expect(outcomes(items, results)).toEqual(expected));

	test.each<[string, unknown]>([
		['have no index', [{ status: 200, id: 'a' }, { status: 200, id: '7' }]],
		['have an index twice', [result(0, 'a'), result(0, 'a')]],
		['have an index beyond the items', [result(1, '7'), result(2)]],
		['have no status', [{ index: 0 }, result(1)]],
		['have the id of another record', [result(0, '7'), result(1, 'a')]],
		['are no list', 'done'],
	])('count as unknown if they %s', (_, results) => expect(outcomes(items, results)).toEqual([nothing, nothing]));

	test('count as unknown if one record was created for two items', () => {
		expect(outcomes([{}, {}], [result(0, 'x'), result(1, 'x')], true)).toEqual([nothing, nothing]);
		expect(outcomes([{}, {}], [result(0, 'x'), result(1, 'x')])).toEqual(['x', 'x']);
	});
});

test('rule 14: a job is started by the operation that x-job names, with its parameters', () => {
	const jobOf = (operationId: string) =>
		describeResource(
			documentWith({
				'/v1/contacts': { get: {}, post: { 'x-job': { operationId, parameters: { resource: 'contacts' } } } },
				'/v1/jobs': { post: { operationId: 'startJob' } },
			}),
			'/contacts',
		)?.create?.job;
	expect(jobOf('startJob')).toMatchObject({ path: '/jobs', query: { resource: 'contacts' } });
	expect(jobOf('another')).toBeUndefined();
});

test('rule 16: the events are named in the document, and a new webhook shows its secret', async () => {
	const events = { type: 'array', items: { enum: ['contact.created', 'contact.*', '*'] } };
	const post = { requestBody: json({ properties: { url: { type: 'string' }, events } }) };
	const document = parseOpenApi({
		openapi: '3.1.0',
		paths: { '/v1/webhooks': { get: {}, post } },
		webhooks: { 'contact.created': { post: { summary: 'A contact was created' } } },
	});
	expect(readEventCatalog(document)).toEqual({
		types: [{ type: 'contact.created', summary: 'A contact was created' }], patterns: ['contact.*', '*'],
	});
	const times = { created_at: '', updated_at: '', failing_since: null };
	const created = { id: 'w', url: 'https://n8n.example', events: ['*'], status: 'active', ...times, secret_hint: 'abcd' };
	const open = async (body: object) => {
		const page = { data: [], next_cursor: null, total: 0 };
		const send = async ({ method }: { method: string }) =>
			await Promise.resolve({ status: 200, headers: {}, body: method === 'GET' ? page : body });
		const api = { send, describe: async () => await Promise.resolve(describeResource(document, '/webhooks')) } as unknown as Connection;
		const n8n = { getWorkflow: () => ({}), getNode: () => ({ name: 'n' }) } as IHookFunctions;
		return (await ensureSubscription(n8n, api, { url: created.url, events: created.events }, {}, undefined)).state.secret;
	};
	const secret = `whsec_${'A'.repeat(40)}abcd`;
	expect(await open({ ...created, secret })).toBe(secret);
	await expect(open({ ...created, secret: 'whsec_********' })).rejects.toThrow(/no signing secret.* rule 16 /);
	await expect(open({ ...created, secret, secret_hint: undefined })).rejects.toThrow(/its secret_hint is missing.* rule 16 /);
});

test('rule 17: custom fields are read from their definitions, and other definitions are left out', async () => {
	const data = [
		{ id: '1', key: 'size', label: 'Size', type: 'select', options: [{ value: 's', label: 'Small' }], unique: false },
		{ id: '2', key: 'seen', type: 'datetime', read_only: true },
		{ id: '3', key: 'gone', type: 'text', archived_at: '2026-01-01T00:00:00Z' },
		{ id: '4', name: 'Other', kind: 'text' },
	];
	const send = async () => await Promise.resolve({ status: 200, headers: {}, body: { data, next_cursor: null, total: 4 } });
	const describe = async (path: string) => await Promise.resolve(path === '/custom-fields' ? { list: listWith() } : undefined);
	const custom = await readCustomFields({ send, describe } as unknown as Connection, '/contacts');
	expect(custom.fields).toMatchObject([{ name: 'custom_fields.size', kind: 'choice', choices: [{ label: 'Small', value: 's' }] }]);
	expect(custom.readOnly).toMatchObject([{ name: 'custom_fields.seen', kind: 'dateTime' }]);
	expect(custom.unwritable).toMatchObject([{ name: 'custom_fields.seen' }, { name: 'custom_fields.gone' }]);
});

test('rule 18: of a schema, what is not understood affects only that part', () => {
	const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
	const text = { type: 'string' };
	const schemas = {
		Circle: { allOf: [ref('Circle')] },
		Born: { type: 'string', format: 'date' },
		Animal: { properties: { name: text }, oneOf: [ref('Cat'), ref('Dog')] },
		Cat: { allOf: [ref('Animal'), { properties: { claws: text } }] },
		Dog: { allOf: [ref('Animal')] },
	};
	const properties = {
		status: { oneOf: [{ const: 'open', title: 'Open' }, { const: 'done' }] },
		score: { type: ['integer', 'null'] },
		born: { ...ref('Born'), title: 'Birthday' },
		circle: ref('Circle'),
		elsewhere: ref('Thing'),
		animal: ref('Animal'),
		cat: ref('Cat'),
		empty: null,
		any: true,
		never: false,
		odd: { type: 7, enum: null, maxLength: 'many' },
	};
	expect(fieldsOf({ properties }, { schemas }).map(({ name, kind }) => [name, kind])).toEqual([
		['status', 'choice'], ['score', 'number'], ['born', 'date'], ['circle', 'any'], ['elsewhere', 'any'],
		['animal.name', 'text'], ['cat.name', 'text'], ['cat.claws', 'text'], ['empty', 'any'], ['any', 'any'], ['odd', 'any'],
	]);
});

test('rule 19: a missing scope is named', () => {
	const advice = (body: object) => problemOf({ status: 403, headers: {}, text: JSON.stringify(body) }).description;
	expect(advice({ code: 'insufficient_scope', scope: 'contacts:write' })).toContain('Add the scope contacts:write');
	expect(advice({ missing: 'contacts:write' })).toContain('Ask an administrator');
});

describe('rule 20: a response of success', () => {
	const read = (body: unknown, more: object = {}, type = 'application/json') =>
		readAnswer({ status: 200, headers: { 'content-type': type }, text: JSON.stringify(body), ...more }, 'https://crm.example', 'POST');

	test.each<[string, unknown, string]>([
		['an error', { error: 'no such field' }, 'application/json'],
		['errors', { errors: ['email is taken'] }, 'application/json'],
		['success: false', { success: false }, 'application/json'],
		['another status', { status: 422, detail: 'email is taken' }, 'application/json'],
		['a problem', { id: 'x' }, 'application/problem+json'],
	])('with %s is a failure', (_, body, type) => {
		const answer = read(body, {}, type);
		expect(!answer.ok && answer.problem.description).toContain('may have been written');
	});

	test.each([{ id: 'm', error: { code: 'bounced' }, status: 'failed' }, { results: [], errors: ['x'] }, { data: {}, errors: ['x'] }, {}])(
		'with a record or a list is none, whatever its members: %j',
		(body) => expect(read(body).ok).toBe(true),
	);

	test('in another charset than UTF-8 is refused', () => {
		const answer = read({ id: 'x' }, { isGarbled: true });
		expect(!answer.ok && answer.problem.message).toContain('text in UTF-8');
	});
});
