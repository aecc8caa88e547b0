import type { IncomingHttpHeaders } from 'node:http';

import type { IDataObject } from 'n8n-workflow';

import { alteredService, type AlteredRequest, type Instead } from '../support/altered-service.ts';
import { failure, run } from '../support/node-runs.ts';
import { automatic, update } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { runSync, syncOf } from '../support/sync-node.ts';
import { undoing } from '../support/undo-node.ts';

const sandbox = useSandbox({ contacts: 0 });
const service = alteredService(sandbox, true);

/** A service that replaces records as a whole, and has no PATCH. */
let record: IDataObject;
let etag: string | undefined;
/** Changes the ETag or the record after each answer. */
let meanwhile: () => void;
let takesIfMatch: boolean;
let writes: Array<{ body: IDataObject; headers: IncomingHttpHeaders }>;
let properties: IDataObject;
let additionalProperties: boolean | undefined;

const textSchema = { type: 'string' };
const ifMatch = { name: 'If-Match', in: 'header', schema: textSchema };

function answer({ method, url: { pathname }, headers, text }: AlteredRequest): Instead {
	const replyHeaders: Record<string, string> = etag === undefined ? {} : { etag };
	const reply = (status: number, json: unknown): Instead => ({ status, body: JSON.stringify(json), headers: replyHeaders });
	if (pathname === '/openapi.json') {
		const schema = { type: 'object', properties, additionalProperties };
		const content = { 'application/json': { schema } };
		return reply(200, {
			openapi: '3.0.3',
			paths: {
				'/v1/contacts': {
					get: {},
					post: { requestBody: { content } },
					put: { requestBody: { content }, parameters: [{ name: 'match_on', in: 'query', schema: { enum: ['external_id'] } }] },
				},
				'/v1/contacts/{id}': { get: {}, put: { requestBody: { content }, parameters: takesIfMatch ? [ifMatch] : [] } },
			},
		});
	}
	if (method === 'GET') {
		const read = reply(200, pathname === '/v1/contacts' ? { data: [record], next_cursor: null, total: 1 } : record);
		meanwhile();
		return read;
	}
	if (etag !== undefined && headers['if-match'] !== etag) return reply(412, {});
	const body = JSON.parse(text) as IDataObject;
	record = { id: 'r1', ...body };
	writes.push({ body, headers });
	return reply(200, record);
}

beforeEach(() => {
	service.alter({ request: answer });
	record = { id: 'r1', name: 'Ada', phone: '1', address: { city: 'London', zip: 'W1' }, created_at: 'x' };
	etag = '"7"';
	takesIfMatch = false;
	meanwhile = () => undefined;
	writes = [];
	additionalProperties = undefined;
	properties = {
		created_at: { ...textSchema, readOnly: true },
		name: textSchema,
		phone: textSchema,
		address: { type: 'object', properties: { city: textSchema, zip: textSchema } },
	};
});

const setup = (fields: IDataObject, items: IDataObject[] = [{}]) => ({
	credential: service.credential,
	parameters: update('contact', 'r1', fields),
	items,
});

test('an update keeps the values that are not changed, and names the version it read', async () => {
	await run(setup({ name: 'Grace', 'address.city': 'Paris', phone: '={{ null }}' }));
	expect(writes).toMatchObject([
		{
			body: { name: 'Grace', phone: null, address: { city: 'Paris', zip: 'W1' } },
			headers: { 'if-match': '"7"' },
		},
	]);
	expect(writes[0]?.body).not.toHaveProperty('created_at');
});

test('a sync keeps the values that the source does not have, and writes nothing the second time', async () => {
	properties['external_id'] = textSchema;
	record['external_id'] = 'x-1';
	const { credential } = setup({});
	const sync = async () => await runSync({ credential, parameters: syncOf('contact'), items: [{ external_id: 'x-1', name: 'Grace' }] });
	const { updated, hints } = await sync();
	expect(updated).toHaveLength(1);
	// Nobody knows whether the record has changed between the list and its read.
	expect(hints.join()).toContain('have no version');
	expect(writes).toMatchObject([{ body: { name: 'Grace', phone: '1', address: { zip: 'W1' } }, headers: { 'if-match': '"7"' } }]);
	expect((await sync()).unchanged).toHaveLength(1);
	expect(writes).toHaveLength(1);
});

test('fields that the description does not know are written back as they were read, unless the body may have nothing else', async () => {
	record.legacy_code = { old: 'L-77' };
	await run(setup({ name: 'Grace' }));
	expect(writes[0]?.body).toMatchObject({ name: 'Grace', legacy_code: { old: 'L-77' } });
	expect(writes[0]?.body).not.toHaveProperty('id');
	additionalProperties = false;
	// By another account, as descriptions are kept for minutes.
	await run({ ...setup({ name: 'Mary' }), credential: { ...service.credential, apiKey: 'another' } });
	expect(writes[1]?.body).not.toHaveProperty('legacy_code');
});

test.each<[string, (fullRecord: IDataObject) => IDataObject]>([
	['another record', (fullRecord) => ({ ...fullRecord, id: 'r2' })],
	['a record in an envelope', (fullRecord) => ({ data: fullRecord })],
	['nothing but the id of another', () => ({ id: 'r10' })],
	['nothing but its id', ({ id }) => ({ id })],
	['an empty object', () => ({})],
	['a message', () => ({ message: 'ok' })],
])('a service that answers the read of the record with %s gets no write, as the rest would be erased', async (_, answered) => {
	record = answered(record);
	expect((await failure(setup({ name: 'Grace' }))).message).toMatch(/Instead of this record/);
	expect(writes).toEqual([]);
});

test('an update that changes nothing is not sent, and outputs the whole record', async () => {
	const { items } = await run(setup({ name: 'Ada' }));
	expect(items).toMatchObject([{ json: record }]);
	expect(writes).toEqual([]);
});

test.each<[string, IDataObject, string | undefined, IDataObject?]>([
	['no version', {}, undefined], ['a weak ETag', {}, 'W/"7"'],
	['no version, although it is described', { version: { type: 'integer' } }, undefined],
	['null as its version', { version: { type: 'integer' } }, undefined, { version: null }],
])('a record with %s is not replaced: others may be changing it', async (_, described, itsEtag, more = {}) => {
	etag = itsEtag;
	Object.assign(properties, described);
	Object.assign(record, more);
	expect((await failure(setup({ name: 'Grace' }))).message).toMatch(/replaces whole records/);
	expect(writes).toEqual([]);
});

test('an item’s own id does not take the place of the picked record', async () => {
	properties.id = textSchema;
	await run(setup(automatic, [{ id: 'other', name: 'Grace' }]));
	expect(writes).toMatchObject([{ body: { id: 'r1', name: 'Grace' } }]);
});

test('a record whose version was known is not replaced if the CRM no longer returns its version', async () => {
	properties['external_id'] = textSchema;
	Object.assign(record, { external_id: 'x-1', version: 3 });
	meanwhile = () => void delete record.version;
	const { credential } = setup({});
	const synced = runSync({ credential, parameters: syncOf('contact'), items: [{ external_id: 'x-1', name: 'Grace' }] });
	await expect(synced).rejects.toThrow('part of it');
	expect(writes).toEqual([]);
});

describe('a record with a number that cannot be sent back as it is', () => {
	const long = '12345678901234567890';
	beforeEach(() => {
		properties['score'] = { type: 'number' };
		properties['tags'] = { type: 'array', items: { type: 'object', properties: { code: { type: 'integer' }, text: textSchema } } };
		properties['custom_fields'] = { type: 'object', additionalProperties: true };
		(properties.address as { properties: IDataObject }).properties['zone'] = { type: 'integer' };
	});

	test.each<[path: string, more: object]>([
		['score', { score: long }],
		['custom_fields.serial', { custom_fields: { serial: long } }],
		['address.zone', { address: { zone: long } }],
		['tags.code', { tags: [{ code: 1 }, { code: long }] }],
		['legacy.old', { legacy: { old: [long] } }],
	])('stays as it is: %s', async (path, more) => {
		// As the node reads it: a number as text.
		Object.assign(record, more);
		await expect(run(setup({ name: 'Grace' }))).rejects.toThrow(`${path}: the record has a number`);
		expect(writes).toEqual([]);
	});

	test('is written if they are texts', async () => {
		Object.assign(record, { phone: long, tags: [{ text: long }], address: { zip: long } });
		await run(setup({ name: 'Grace' }));
		expect(writes).toMatchObject([{ body: { name: 'Grace', phone: long, tags: [{ text: long }], address: { zip: long } } }]);
	});
});

test.each([true, false])('an update warns that it is unprotected unless the CRM says that it takes If-Match: %p', async (describes) => {
	takesIfMatch = describes;
	const { hints } = await run({ ...setup({ name: 'Grace' }), credential: { ...service.credential, apiKey: `describes ${describes}` } });
	expect(JSON.stringify(hints).includes('can be overwritten')).toBe(!describes);
	expect(writes).toMatchObject([{ headers: { 'if-match': '"7"' } }]);
});

test('a write that sends the version of the record is protected, too', async () => {
	etag = undefined;
	Object.assign(properties, { version: { type: 'integer' }, external_id: textSchema });
	Object.assign(record, { version: 7, external_id: 'x-1' });
	expect((await run(setup({ name: 'Grace' }))).hints).toEqual([]);
	const items = [{ external_id: 'x-1', name: 'Mary' }];
	const { updated, hints } = await runSync({ credential: service.credential, parameters: syncOf('contact'), items });
	expect([updated.length, hints]).toEqual([1, []]);
	expect(writes).toMatchObject([{ body: { name: 'Grace', version: 7 } }, { body: { name: 'Mary', version: 7 } }]);
});

test('a record that others change at the same time is not overwritten, also where If-Match is not described', async () => {
	meanwhile = () => void ([etag, record] = ['"8"', { ...record, phone: '2' }]);
	await expect(run(setup({ name: 'Grace' }))).rejects.toMatchObject({ httpCode: '412' });
	expect(writes).toEqual([]);
});

test('an attempt that could not read the record has written nothing, and is made again without doubt', async () => {
	const context = {};
	const isBroken = [true, true];
	service.alter({
		request: (request) => (request.method === 'GET' && request.url.pathname === '/v1/contacts/r1' && isBroken.pop()
			? { status: isBroken.length > 0 ? 501 : 200, body: '{}' } : answer(request)),
	});
	for (const error of [{ context: { mayBeDone: false } }, {}]) {
		await expect(run({ ...setup({ name: 'Grace' }), context })).rejects.toMatchObject(error);
		expect(JSON.stringify(context)).not.toContain('?');
	}
	await run({ ...setup({ name: 'Grace' }), context });
	expect(writes).toMatchObject([{ body: { name: 'Grace' } }]);
});

describe('an undo', () => {
	const { add, as, record: stored, results } = undoing(sandbox);
	let sent: IDataObject;
	/** The ID of a record that the service does not return. */
	let unreadable: string | undefined;
	/** In place of If-Match. */
	let versionField: string | undefined;

	beforeEach(() => {
		[sent, unreadable, versionField] = [{}, undefined, undefined];
		service.alter({
			request: async ({ method, url, text: body }) => {
				const [, id] = /^\/v1\/contacts\/(con_\w+)$/.exec(url.pathname) ?? [];
				if (id === undefined) return;
				if (id === unreadable) return { status: 200, body: '{"message":"ok"}' };
				if (method === 'PUT') sent = JSON.parse(body) as IDataObject;
				const replaced: IDataObject = { ...(await stored('contacts', id)), ...sent };
				return { status: 200, headers: { etag: '"2"' }, body: JSON.stringify({ ...replaced, name: replaced.last_name }) };
			},
			answer: (body, { url }) => {
				if (url.pathname !== '/openapi.json') return body;
				const replacing = body.replace(/("\/v1\/contacts\/{id}":.*?)"patch":/s, '$1"put":');
				if (versionField === undefined) return replacing;
				return replacing.replace(/("operationId":"updateContact".*?)"If-Match"/s, '$1"If-Other"')
					.replace(/("ContactUpdate":.*?"properties":{)/s, `$1${versionField}`);
			},
		});
	});

	const changed = async (by: string) => {
		const { id } = await add('contacts', { last_name: 'before' });
		await as(by, update('contact', id, { last_name: 'after' }));
		return id;
	};

	test.each([true, false])('needs a version, in the record or as If-Match: %p', async (hasVersion) => {
		versionField = hasVersion ? '"version":{"type":"integer"},' : '';
		await changed(`version ${hasVersion}`);
		const undone = undoing(service).undo(`version ${hasVersion}`);
		if (hasVersion) expect(results(await undone)).toEqual(['undone']);
		else await expect(undone).rejects.toThrow('rule 12');
	});

	test('sends no value that only the CRM sets, and goes on with the others if a record cannot be read and sent back', async () => {
		const ids = [await changed('several'), await changed('several')];
		unreadable = ids[1]!;
		const { items } = await undoing(service).undo('several');
		const reason = expect.stringMatching(/^Instead of this record, the CRM returned another one/) as string;
		expect(items.find(({ id }) => id === ids[0])).toMatchObject({ result: 'undone' });
		expect(items.find(({ id }) => id === unreadable)).toMatchObject({ result: 'cannot_be_undone', reason });
		expect(sent).toMatchObject({ last_name: 'before' });
		expect(sent).not.toHaveProperty('created_at');
	});
});
