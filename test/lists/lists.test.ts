import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { alteredService, redescribe } from '../support/altered-service.ts';
import { nodeRuns, type Setup } from '../support/node-runs.ts';
import { get, getMany, on } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

const sandbox = useSandbox();
const altered = alteredService(sandbox, true);
const { output, run } = nodeRuns(sandbox);
const list = async (more = {}) => await run(getMany('contact', more));

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

test('a list is complete after failed pages', async () => {
	const page = { path: '/v1/contacts', method: 'GET', times: 1 };
	await sandbox.faults(
		{ ...page, status: 502 },
		{ ...page, drop: 'before' },
		{ ...page, malformed: true },
	);
	const { items } = await list();
	expect(new Set(items.map(({ json }) => json.id)).size).toBe(25);
	expect(items).toHaveLength(25);
});

test('a list continues after an empty page that has a cursor', async () => {
	const { next_cursor: cursor } = await sandbox.read('contacts?limit=1');
	await answerWith(JSON.stringify({ data: [], next_cursor: cursor, total: 24 }), { times: 1 });
	expect((await list()).items).toHaveLength(24);
});

test('Return All is complete in an order that changes while it is read', async () => {
	const { data } = (await sandbox.read('contacts?sort=updated_at&limit=500')) as { data: Array<{ id: string }> };
	let edited = 0;
	altered.alter({
		async request({ method, url }) {
			if (method !== 'GET' || url.pathname !== '/v1/contacts') return;
			url.searchParams.set('limit', '5');
			// Others edit a contact of a later page, which moves to the first.
			if (url.searchParams.has('cursor') && edited < 6) {
				await sandbox.call('PATCH', `/v1/contacts/${data[edited++]!.id}`, { job_title: 'Edited' });
			}
		},
	});
	const more = { options: { sort: '-updated_at' } };
	const { items } = await run(getMany('contact', more), [{}], { credential: altered.credential });
	expect(edited).toBeGreaterThan(2);
	expect(items.map(({ json }) => json.id).sort()).toEqual(data.map(({ id }) => id).sort());
	const summary = { ...more.options, output: 'summary' };
	edited = 0;
	const [{ json } = { json: {} }] = (await run(getMany('contact', { options: summary }), [{}], { credential: altered.credential })).items;
	expect(json).toMatchObject({ records: data.length });
});

const errorsBesideData = ['"error":{"message":"The database is down"}', '"errors":["timeout"]'];

test.each(errorsBesideData)('a list with %s is not taken for an empty one', async (error) => {
	await answerWith(`{"data":[],"next_cursor":null,"total":0,${error}}`);
	await expect(list()).rejects.toThrow('It comes with an error, so records may be missing');
});

test.each(['{}', '[]', '{"data":{}}', '{"data":[1]}', 'null'])(
	'%s in place of a list is an error in the user’s words',
	async (body) => {
		await answerWith(body);
		await expect(list()).rejects.toThrow('list of records');
	},
);

describe('the output fields', () => {
	const options = { outputFields: ['email', 'updated_at'] };

	test('are those that the user has chosen, in a list and for one record', async () => {
		const { items } = await list({ simplify: true, options });
		expect(items).toHaveLength(25);
		for (const { json } of items) expect(Object.keys(json)).toEqual(['email', 'updated_at']);
		const [request] = await sandbox.requests();
		expect(decodeURIComponent(request?.query ?? '')).toContain('fields=id,email,updated_at');

		const { data } = await sandbox.read('contacts?limit=1') as {
			data: Array<{ id: string; email: string; updated_at: string }>;
		};
		const [{ id, ...rest } = { id: '', email: '', updated_at: '' }] = data;
		expect(await output({ ...get('contact', id), options })).toEqual([{ email: rest.email, updated_at: rest.updated_at }]);
	});

	test('may be parts of others, and unknown ones are reported, both for lists and single records', async () => {
		const address = { city: 'Lyon', country: 'FR' };
		const values = { last_name: 'Parts', address };
		const { id } = await sandbox.create('contacts', values);
		const chosen = { options: { outputFields: 'id,address.city,email.domain,gone' } };
		const parameters = [{ ...get('contact', id), ...chosen }, getMany('contact', chosen, { ids: id })];
		for (const parameterSet of parameters) {
			const { items, hints } = await run(parameterSet);
			expect(items.map(({ json }) => json)).toEqual([{ id, 'address.city': 'Lyon' }]);
			expect(hints).toEqual([expect.stringContaining('do not have email.domain, gone')]);
		}
	});

	test('with the key of no custom field are reported', async () => {
		await sandbox.create('custom-fields', { resource: 'contacts', key: 'tier', label: 'Tier', type: 'text' });
		const { hints } = await list({ options: { outputFields: 'id,custom_fields.tier,custom_fields.teir' } });
		expect(hints).toEqual([expect.stringContaining('do not have custom_fields.teir')]);
	});

	test('may be custom fields that the CRM does not describe', async () => {
		redescribe(altered, ({ paths }) => delete paths['/v1/custom-fields']);
		const { hints } = await nodeRuns(altered).run(getMany('contact', { options: { outputFields: 'id,custom_fields.any' } }));
		expect(hints).toEqual([]);
	});

	test('are refused if the CRM has none of them', async () => {
		const none = list({ options: { outputFields: ['gone'] } });
		await expect(none).rejects.toThrow('Output Fields: The records do not have gone');
	});
});

test.each([{ status: 204 }, { status: 200, body: '[]' }])(
	'%j in place of a record is an error in the user’s words',
	async (answer) => {
		await sandbox.faults({ path: '/v1/contacts/con_1', contentType: 'application/json', ...answer });
		for (const simple of [true, false]) {
			const parameters = get('contact', 'con_1', simple);
			const reading = run(parameters);
			await expect(reading).rejects.toThrow('The response from /v1/contacts/con_1 is not a record');
		}
	},
);

test('records are returned whole if the description does not list their fields', async () => {
	const record = { id: 'con_1', vip: true, address: { city: 'Lyon' } };
	const undescribed = { get: { responses: { 200: { description: 'ok' } } } };
	const answers: Record<string, object> = {
		'/openapi.json': { openapi: '3.1.0', paths: { '/v1/contacts': undescribed, '/v1/contacts/{id}': undescribed } },
		'/v1/contacts': { data: [record], next_cursor: null },
		'/v1/contacts/con_1': record,
	};
	altered.alter({ request: ({ url }) => ({ status: 200, body: JSON.stringify(answers[url.pathname]) }) });
	const read = nodeRuns(altered).output;
	expect(await read(get('contact', 'con_1', true))).toEqual([record]);
	expect(await read(getMany('contact', { simplify: true }))).toEqual([record]);
	const chosen = { simplify: true, options: { outputFields: ['address.city'] } };
	expect(await read(getMany('contact', chosen))).toEqual([{ 'address.city': 'Lyon' }]);
});

/** Runs Get Many with Changed Since set to a date and time. */
const changedSince = async (more: IDataObject, setup: Partial<Setup> = {}) =>
	await run(getMany('contact', { changedSince: 'moment', ...more }), [{}], setup);

test('the date and time is in the time zone of the workflow', async () => {
	await changedSince({ moment: '2025-03-01T00:00:00', includeDeleted: true }, { timezone: 'America/New_York' });
	const [request] = await sandbox.requests();
	const query = new URLSearchParams(request?.query);
	expect(query.get('updated_since')).toBe('2025-03-01T05:00:00.000Z');
	expect(query.get('include_deleted')).toBe('true');
});

test('deleted records arrive if they are chosen, also simplified with the time of deletion', async () => {
	const contact = await sandbox.create('contacts', { last_name: 'Gone' });
	await sandbox.call('DELETE', `/v1/contacts/${contact.id}`);
	const settings = { moment: String(contact.updated_at), includeDeleted: true, simplify: true };
	const { items } = await changedSince(settings);
	expect(items).toMatchObject([{ json: { id: contact.id, deleted_at: expect.stringMatching(/^\d{4}-/) } }]);
	expect(items[0]?.json).not.toHaveProperty('version');
	expect((await changedSince({ ...settings, includeDeleted: false })).items).toEqual([]);
});

const timeline = async (resource: string, id: unknown, more: IDataObject = {}) => {
	const parameters = { ...on(resource, 'getTimeline', id), limit: 50, simplify: true, ...more } as INodeParameters;
	return (await run(parameters)).items.map(({ json }) => json);
};

/** A contact with one of each kind, the last of them first. */
async function aContact(): Promise<{ id: string; ids: IDataObject }> {
	const { id } = await sandbox.create('contacts', { last_name: 'Timeline' });
	const links = [{ resource: 'contacts', id }];
	const ids: IDataObject = {};
	const add = async (kind: string, path: string, values: IDataObject) => {
		const before = Date.now();
		await until(() => Date.now() > before);
		ids[kind] = (await sandbox.create(path, values)).id;
	};
	const call = { type: 'call', direction: 'inbound', subject: 'Asked for a price' };
	await add('activity', 'activities', { ...call, occurred_at: '2024-01-01T10:00:00Z', links });
	await add('deal', 'deals', { title: 'Renewal', amount: 1200, currency: 'EUR', contact_id: id, contact_ids: [id] });
	const email = { channel: 'email', direction: 'inbound', from: 'a@b.example', to: ['us@acme.example'], text: 'x' };
	await add('message', 'messages', { ...email, subject: 'Re: Offer', contact_id: id });
	await add('note', 'notes', { body: 'Prefers\nmornings', links });
	await add('task', 'tasks', { title: 'Call back', links });
	await add('ticket', 'tickets', { subject: 'No hot water', contact_id: id });
	return { id, ids };
}

test('what hangs on a record comes as one list with a line each, the newest first, each record once', async () => {
	const { id, ids } = await aContact();
	const entries = await timeline('contact', id);
	expect(entries.map(({ kind, id: entry }) => [kind, entry])).toEqual(
		['ticket', 'task', 'note', 'message', 'deal', 'activity'].map((kind) => [kind, ids[kind]]),
	);
	expect(entries.map(({ summary }) => summary)).toEqual([
		expect.stringMatching(/No hot water/),
		expect.stringMatching(/Call back/),
		'Prefers mornings',
		expect.stringMatching(/^inbound email: Re: Offer/),
		expect.stringMatching(/^Renewal – 1,200 EUR/),
		expect.stringMatching(/^inbound call: Asked for a price/),
	]);
});

test('kinds and the limit are those chosen, and whole records are beside the lines if they are not simplified', async () => {
	const { id, ids } = await aContact();
	expect(await timeline('contact', id, { limit: 2 })).toMatchObject([{ kind: 'ticket' }, { kind: 'task' }]);
	const [note, activity, ...others] = await timeline('contact', id, { timelineKinds: ['note', 'activity'], simplify: false });
	expect(note).toMatchObject({ id: ids.note, record: { id: ids.note, version: 1 } });
	expect(activity).toMatchObject({ kind: 'activity', time: '2024-01-01T10:00:00.000Z' });
	expect(others).toEqual([]);
	await expect(timeline('contact', 'con_gone')).rejects.toMatchObject({ httpCode: '404' });
});

test('what hangs on a record is whole and the newest of all if a filter takes one ID, and if a list has no order', async () => {
	const { id, ids } = await aContact();
	for (const body of ['Later', 'Last']) ids.note = (await sandbox.create('notes', { body, links: [{ resource: 'contacts', id }] })).id;
	redescribe(altered, ({ paths }) => {
		const [messages, notes] = [paths['/v1/messages']!.get!, paths['/v1/notes']!.get!];
		const ofOne = { name: 'contact_id', in: 'query', schema: { type: 'string', 'x-resource': 'contacts' } };
		messages.parameters = messages.parameters!.map((parameter) => (parameter.name === ofOne.name ? ofOne : parameter));
		notes.parameters = notes.parameters!.filter(({ name }) => name !== 'sort');
	});
	const kinds = { timelineKinds: ['message', 'note'] };
	const parameters = { ...on('contact', 'getTimeline', id), simplify: true, ...kinds, limit: 2 } as INodeParameters;
	expect(await nodeRuns(altered).output(parameters)).toMatchObject([
		{ kind: 'note', id: ids.note }, { kind: 'note', summary: 'Later' },
	]);
	expect(await nodeRuns(altered).output({ ...parameters, limit: 4 })).toMatchObject([
		{}, {}, {}, { kind: 'message', id: ids.message },
	]);
});

test('what hangs on a record is in the order of instants, and a chosen kind that cannot link to it is reported', async () => {
	const { id, ids } = await aContact();
	altered.edit(({ path, body }) => {
		if (!path.startsWith('/v1/tickets?')) return;
		for (const record of body.data as IDataObject[]) record.created_at = '2024-01-01T09:00:00-02:00';
	});
	const timelineKinds = ['activity', 'ticket'];
	const parameters = { ...on('contact', 'getTimeline', id), simplify: true, timelineKinds, limit: 50 } as INodeParameters;
	expect(await nodeRuns(altered).output(parameters)).toMatchObject([{ id: ids.ticket }, { id: ids.activity }]);
	const company = await sandbox.create('companies', { name: 'Without messages' });
	const { hints } = await run({ ...parameters, ...on('company', 'getTimeline', company.id), timelineKinds: ['message', 'note'] });
	expect(hints).toEqual(['Get Timeline: records of the kind Message were left out. The CRM cannot list them by companies.']);
	expect((await run({ ...parameters, ...on('company', 'getTimeline', company.id), timelineKinds: [] })).hints).toEqual([]);
});
