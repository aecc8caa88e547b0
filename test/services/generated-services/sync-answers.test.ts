import type { IDataObject } from 'n8n-workflow';

import { syncIn } from '../../support/sync-node.ts';
import { useMirrors, type Handle } from './mirror.ts';

const mirror = useMirrors();
const contacts = (alter?: Parameters<typeof mirror>[2]) => mirror(['a', 'd'], {}, alter);

/** The same service, but IDs are numbers. */
const numbered = (handle: Handle): Handle => (method, url, headers, text) => {
	url.pathname = url.pathname.replace(/\/contacts\/(\d+)$/, '/contacts/con_$1');
	const ids = url.searchParams.get('ids');
	if (ids !== null) url.searchParams.set('ids', ids.replace(/\d+/g, 'con_$&'));
	const answer = handle(method, url, headers, text);
	return { ...answer, body: answer.body && JSON.parse(JSON.stringify(answer.body).replace(/"con_(\d+)"/g, '$1')) };
};

const duplicateAnswer = (status: number, more: IDataObject = {}) => ({ status, body: { code: 'duplicate', detail: 'Taken', ...more } });
const renamed = [{ external_id: 'a', last_name: 'a' }, { external_id: 'd-new', last_name: 'd' }];

test.each([
	['the number as text', '2'],
	['the number', 2],
	['a record that was not read', '77'],
])('where ids are numbers and a refusal names %s, the record stays', async (_, existing_id) => {
	const { run, storedKeys } = contacts(
		(handle) =>
			(method, ...more) =>
				method === 'POST' ? duplicateAnswer(409, { existing_id }) : numbered(handle)(method, ...more),
	);
	const { deleted, conflict } = await run(renamed);
	expect(deleted).toEqual([]);
	expect(storedKeys()).toEqual(['a', 'd']);
	expect(conflict.map((item) => syncIn(item).reason).join()).toContain('was left unchanged.');
});

test.each([1, '1'])('a version counts for the record that it came with, also where ids are numbers (%j)', async (id) => {
	const { run, service } = contacts(numbered);
	service.edit('con_1', { phone: 'old' });
	service.edit('con_1', { phone: 'by somebody else' });
	const item = { id, last_name: 'new', phone: 'old', seen: 2, agreed: { last_name: 'a', phone: 'old' } };
	const more = { matchOn: 'id', versionField: 'seen', agreedField: 'agreed', bothChanged: 'source', missingInSource: 'leave' };
	expect((await run([item], more)).updated).toHaveLength(1);
	expect(service.records.get('con_1')).toMatchObject({ last_name: 'new', phone: 'by somebody else' });
});

test('a record that the CRM merged with a new one is not deleted, and not reported as created', async () => {
	const { run, storedKeys } = contacts((handle, service) => (method, ...more) =>
		method === 'POST' ? { status: 201, body: service.records.get('con_2') } : handle(method, ...more),
	);
	const { created, deleted, conflict } = await run(renamed);
	expect([created, deleted]).toEqual([[], []]);
	expect(storedKeys()).toEqual(['a', 'd']);
	expect(conflict.map((item) => syncIn(item).reason)).toContainEqual(expect.stringContaining('returned record con_2'));
});

test.each([
	[202, {}],
	[204, undefined],
	[201, { message: 'Queued for review' }],
	[200, { id: null }],
])('a creation answered %i with %j is uncertain: nothing is deleted, and the user is warned', async (status, body) => {
	const { run, storedKeys } = contacts((handle) => (method, ...more) => (method === 'POST' ? { status, body } : handle(method, ...more)));
	const { created, deleted, conflict } = await run(renamed);
	expect([created, deleted]).toEqual([[], []]);
	expect(storedKeys()).toEqual(['a', 'd']);
	expect(conflict.map((item) => syncIn(item).reason)).toContainEqual(expect.stringContaining('returned no record'));
});

test.each([400, 409, 422])('if an update is refused with %i, no record is deleted: one may have its value', async (status) => {
	const { run, storedKeys } = contacts(
		(handle) =>
			(method, ...more) =>
				method === 'PATCH' ? duplicateAnswer(status) : handle(method, ...more),
	);
	const { deleted } = await run([{ external_id: 'a', phone: '1' }]);
	expect(deleted).toEqual([]);
	expect(storedKeys()).toEqual(['a', 'd']);
});

test('if a service ignores the filter of the scope, the run is refused and no other record is deleted', async () => {
	const { run, storedKeys, service } = contacts((handle) => (method, url, ...more) => {
		const answer = handle(method, url, ...more);
		if (url.pathname.endsWith('/openapi.json')) {
			const { parameters } = (answer.body as { paths: Record<string, { get: { parameters: object[] } }> }).paths['/v1/contacts']!.get;
			parameters.push({ name: 'note', in: 'query', schema: { type: 'string' } });
		}
		return answer;
	});
	service.edit('con_1', { note: 'ours' });
	const filters = { rows: [{ field: 'note', operator: 'is', value: 'ours' }] };
	const { conflict } = await run([{ external_id: 'a', last_name: 'new' }], { filters });
	expect(JSON.stringify(conflict)).toContain('which the filter excludes');
	expect(storedKeys()).toEqual(['a', 'd']);
	expect(service.writes).toEqual([]);
	service.edit('con_2', { note: 'ours' });
	expect((await run([{ external_id: 'a', last_name: 'new' }], { filters })).deleted).toHaveLength(1);
});

test('a list with one record twice and another one missing is incomplete: nothing is deleted', async () => {
	const { run, storedKeys, service } = contacts((handle) => (method, ...more) => {
		const answer = handle(method, ...more);
		const { data } = (answer.body ?? {}) as { data?: unknown[] };
		if (data && data.length > 2) data[1] = data[0];
		return answer;
	});
	service.add({ external_id: 'e', last_name: 'e' });
	const { deleted, conflict } = await run([{ external_id: 'a', last_name: 'a' }]);
	expect(deleted).toEqual([]);
	expect(JSON.stringify(conflict)).toContain('has 3 records, but the CRM returned only 2');
	expect(storedKeys()).toEqual(['a', 'd', 'e']);
});

test('two items that lead to one record by different fields are both conflicts', async () => {
	const { run, service } = contacts();
	service.edit('con_1', { email: 'a@x.example' });
	const items = [{ external_id: 'a', last_name: 'ONE' }, { external_id: 'zz', email: 'a@x.example', last_name: 'TWO' }];
	for (const source of [items, items.toReversed()]) {
		const { conflict } = await run(source, { alsoMatchOn: 'email', missingInSource: 'leave' });
		expect(conflict).toHaveLength(2);
		expect(service.writes).toEqual([]);
	}
});

const noKeys = ['1,00045E+11', NaN, Infinity, true, false, '[object Object]', '\u200b', '\u2060 '];
test.each(noKeys)('%j is not a key: the item is refused, and nothing is deleted', async (external_id) => {
	const { run, storedKeys } = contacts();
	const { created, deleted, conflict } = await run([{ external_id: 'a', last_name: 'a' }, { external_id, last_name: 'd' }]);
	expect([created, deleted]).toEqual([[], []]);
	expect(JSON.stringify(conflict)).toMatch(/There is no value for|cannot be matched on|failed calculation|broken formula/);
	expect(storedKeys()).toEqual(['a', 'd']);
});

test('invisible characters around a key are not part of it', async () => {
	const { run } = contacts();
	const { unchanged } = await run([{ external_id: '\ufeffa\u200b', last_name: 'a' }, { external_id: 'd', last_name: 'd' }]);
	expect(unchanged).toHaveLength(2);
});
