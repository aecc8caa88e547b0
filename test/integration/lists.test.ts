import { getOutputFields } from '../../nodes/CrmPlatform/pickers/getOutputFields';
import { picker, run as runNode } from './n8n.ts';
import { get, getMany } from './parameters.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox();
const run = async (more = {}) =>
	await runNode({ credential: sandbox.credential, parameters: getMany('contact', more) });

/** The list is answered with `body`: `times` times, or from now on. */
const answerWith = async (body: string, times = {}) =>
	await sandbox.faults({
		path: '/v1/contacts',
		method: 'GET',
		status: 200,
		body,
		contentType: 'application/json',
		...times,
	});

test('a list is whole after pages that failed on their way', async () => {
	const page = { path: '/v1/contacts', method: 'GET', times: 1 };
	await sandbox.faults(
		{ ...page, status: 502 },
		{ ...page, drop: 'before' },
		{ ...page, malformed: true },
	);
	const { items } = await run();
	expect(new Set(items.map(({ json }) => json.id)).size).toBe(25);
	expect(items).toHaveLength(25);
});

test('a list goes on after an empty page that has a cursor', async () => {
	const { next_cursor: cursor } = (await sandbox.call('GET', '/v1/contacts?limit=1')).body;
	await answerWith(JSON.stringify({ data: [], next_cursor: cursor, total: 25 }), { times: 1 });
	expect((await run()).items).toHaveLength(24);
});

test('a cursor that repeats is an error and not an endless loop', async () => {
	await answerWith('{"data":[{"id":"con_1"}],"next_cursor":"again","total":9}');
	await expect(run()).rejects.toThrow('same page');
	expect(await sandbox.requests()).toHaveLength(2);
});

test.each(['{}', '[]', '{"data":{}}', '{"data":[1]}', 'null'])(
	'%s in the place of a list is an error in the user’s words',
	async (body) => {
		await answerWith(body);
		await expect(run()).rejects.toThrow('list of records');
	},
);

describe('the fields that come out', () => {
	const options = { outputFields: ['email', 'updated_at'] };

	test('are those the user has chosen, in a list and of one record', async () => {
		const { items } = await run({ simplify: true, options });
		expect(items).toHaveLength(25);
		for (const { json } of items) expect(Object.keys(json)).toEqual(['email', 'updated_at']);
		const [asked] = await sandbox.requests();
		expect(decodeURIComponent(asked?.query ?? '')).toContain('fields=email,updated_at');

		const { data } = (await sandbox.call('GET', '/v1/contacts?limit=1')).body as {
			data: Array<{ id: string; email: string; updated_at: string }>;
		};
		const [{ id, ...rest } = { id: '', email: '', updated_at: '' }] = data;
		const one = await runNode({
			credential: sandbox.credential,
			parameters: { ...get('contact', id), options },
		});
		expect(one.items.map(({ json }) => json)).toEqual([
			{ email: rest.email, updated_at: rest.updated_at },
		]);
	});

	test('are offered as the service names them', async () => {
		const offered = await picker(getOutputFields, {
			credential: sandbox.credential,
			parameters: { resource: 'contact' },
		});
		expect(offered).toContainEqual({ name: 'Updated At', value: 'updated_at' });
		expect(offered).toContainEqual({ name: 'Custom Fields', value: 'custom_fields' });
	});
});
