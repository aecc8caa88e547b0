import type { IDataObject } from 'n8n-workflow';

import { alteredService, type Alteration } from '../support/altered-service.ts';
import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns } from '../support/file-runs.ts';
import { failure, run } from '../support/node-runs.ts';
import { automatic, byId, create, get, getMany, mapped, update } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { runSync, syncOf } from '../support/sync-node.ts';

/** JavaScript has no such number: it becomes 9007199254740992, which is another id. */
const exact = '9007199254740993';

const sandbox = useSandbox({ contacts: 0 });
const service = alteredService(sandbox);
const { importOf, exportOf } = fileRuns(service, useBinaryStore());
const at = () => ({ credential: service.credential });

/** Writes that arrive at the service. */
let writes: string[] = [];
const ndjson = 'application/x-ndjson';
/** A service whose ids are whole numbers beyond 2^53, and which takes whatever it is sent. */
const numbered = (ids: string[]): Alteration => ({
	request({ method, url, text }) {
		const path = url.pathname.replace(/^\/v1/, '');
		if (!url.pathname.startsWith('/v1/') || path.startsWith('/custom-fields')) return;
		if (method !== 'GET') writes.push(`${method} ${path}${url.search} ${text}`);
		const record = (id: string) => `{"id":${id},"last_name":"N${id}","version":1,"score":${id}}`;
		if (path === '/jobs') return { status: 202, body: '{"id":"job_1","status":"queued"}' };
		if (path === '/jobs/job_1') return { status: 200, body: `{"id":"job_1","status":"completed","total":${ids.length}}` };
		if (path.endsWith('/results')) {
			const isExport = url.searchParams.has('records') === false;
			return {
				status: 200, type: ndjson, body: ids.map((id, i) => (isExport ? record(id) : `{"index":${i},"status":200,"id":${id}}`)).join('\n'),
			};
		}
		const requestedIds = url.searchParams.get('ids')?.split(',') ?? ids;
		const page = `{"data":[${ids
			.filter((id) => requestedIds.includes(id))
			.map(record)
			.join(',')}],"next_cursor":null,"total":${requestedIds.length}}`;
		if (method === 'GET' && path === '/contacts') return { status: 200, body: page };
		const lastSegment = path.split('/').at(-1)!;
		if (!path.includes('/batch/')) return { status: 200, body: record(/^\d+$/.test(lastSegment) ? lastSegment : '1') };
		const results = text
			.match(/"id":"(\d+)"/g)!
			.map((match, index) => `{"index":${index},"status":200,${match},"data":${record(match.replace(/\D/g, ''))}}`);
		return { status: 207, body: `{"results":[${results.join(',')}]}` };
	},
});
const near = ['9007199254740992', exact, '9007199254740994', '9007199254740995'];
beforeEach(() => {
	writes = [];
	service.alter(numbered(near));
});

test('of IDs that round to the same number, none is omitted or changed', async () => {
	const { items } = await run({ ...at(), parameters: getMany('contact') });
	expect(items.map(({ json }) => json.id)).toEqual(near);
	const { json, text } = await exportOf({ fileFormat: 'ndjson' });
	expect(json).toMatchObject({ records: 4 });
	expect(text.trim().split('\n').map((line) => (JSON.parse(line) as IDataObject).id)).toEqual(near);
});

test('a record is read, updated and deleted by its own id', async () => {
	const { items } = await run({ ...at(), parameters: get('contact', exact) });
	expect(items[0]!.json).toMatchObject({ id: exact, score: exact });
	await run({ ...at(), parameters: update('contact', '={{ $json.id }}', { last_name: 'New' }), items: [{ id: exact }] });
	expect(writes).toEqual([expect.stringMatching(new RegExp(`^PATCH /contacts/(batch/update|${exact}).*`))]);
	expect(writes[0]).toContain(exact);
});

test.each(['={{ $json.id }}', '={{ 9007199254740993 }}'])('an id that arrived as a number, by %s, is refused', async (expression) => {
	const setup = { ...at(), items: [{ id: Number(exact) }] };
	const updating = await failure({ ...setup, parameters: update('contact', expression, { last_name: 'New' }) });
	expect(updating.message).toMatch(/9007199254740992 is so large that.*Pass it as text/);
	const reading = await failure({ ...setup, parameters: { resource: 'contact', operation: 'get', recordId: byId(expression) } });
	expect(reading.message).toMatch(/Pass it as text/);
	const creating = await failure({ ...setup, parameters: create('contact', mapped({ external_id: expression })) });
	expect(creating.message).toMatch(/External ID: 9007199254740992 is so large/);
	expect(writes).toEqual([]);
});

test.each<[string, string]>([
	['ndjson', near.map((id) => `{"id":${id},"last_name":"New"}`).join('\n')],
	['json', `[${near.map((id) => `{"id":${id},"last_name":"New"}`).join(',')}]`],
	['csv', `id,last_name\n${near.map((id) => `${id},New\n`).join('')}`],
])('a file in %s updates the records with its ids', async (fileFormat, content) => {
	const { json } = await importOf(content, { fileFormat, importAs: 'update' });
	expect(json).toMatchObject({ updated: 4, failed: 0 });
	const ids = writes[0]!.match(/"id":"?(\d+)/g)!.map((match) => match.replace(/\D/g, ''));
	expect(ids).toEqual(near);
});

test.each<[string, IDataObject]>([
	['by hand', mapped({ name: 'A', employee_count: exact })],
	['as JSON', { fieldsMode: 'json', fieldsJson: `{ "name": "A", "employee_count": ${exact} }` }],
	['of the item', automatic],
])('a number %s that would lose digits is refused, and the text of its digits is written as text', async (_, fields) => {
	const { message } = await failure({ ...at(), parameters: create('company', fields), items: [{ name: 'A', employee_count: exact }] });
	expect(message).toContain(`Employee Count: “${exact}” is not a number that can be sent without changing its digits.`);
	await run({ ...at(), parameters: create('company', mapped({ name: 'A', external_id: exact })) });
	expect(writes).toEqual([expect.stringContaining(`"external_id":"${exact}"`)]);
});

test('API Request sends a body as it was entered, or nothing', async () => {
	const parameters = (body: string) =>
		({
			resource: 'apiRequest',
			operation: 'send',
			method: 'POST',
			path: '/v1/companies',
			query: `{ "code": ${exact} }`,
			body,
			headers: '{}',
			options: {},
		}) as never;
	expect((await failure({ ...at(), parameters: parameters(`{ "id": ${exact} }`) })).message).toMatch(
		/Body: it contains a number with more digits/,
	);
	await run({ ...at(), parameters: parameters(`{ "id": "${exact}", "n": 12.50 }`) });
	expect(writes).toEqual([`POST /companies?code=${exact} {"id":"${exact}","n":12.5}`]);
});

test('Write Once Per distinguishes numbers that round alike, or refuses them', async () => {
	const once = (value: string) => ({ ...create('contact', { last_name: 'A' }), options: { writeOncePer: value } }) as never;
	expect((await failure({ ...at(), parameters: once('={{ 9007199254740993 }}') })).message).toMatch(
		/Write Once Per: 9007199254740992 is so large/,
	);
	expect(writes).toEqual([]);
});

test('a sync finds the record with its own id', async () => {
	const items = [{ id: exact, last_name: 'New' }, { id: near[0]!, last_name: `N${near[0]}` }];
	const { created, conflict } = await runSync({ ...at(), parameters: syncOf('contact', { matchOn: 'id' }), items });
	expect([created, conflict]).toEqual([[], []]);
	expect(writes).toEqual([`PATCH /contacts/${exact} {"last_name":"New"}`]);
});
