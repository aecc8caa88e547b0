import { run as runNode } from './n8n.ts';
import { getMany } from './parameters.ts';
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
