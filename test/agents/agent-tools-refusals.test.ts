import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { allWrites, callerOf, callerOfNewNodes } from '../support/agent-tools.ts';
import { alteredService } from '../support/altered-service.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();

const company = 'Twins Inc.';
let ids: Record<'deal' | 'company', string>;

beforeAll(async () => {
	const createRecord = async (path: string, body: IDataObject) => String((await sandbox.call('POST', path, body)).body.id);
	for (const name of ['one', 'other']) {
		await createRecord('/v1/contacts', { first_name: 'Tess', last_name: 'Twin', email: `tess.${name}@x.example` });
	}
	ids = {
		deal: await createRecord('/v1/deals', { title: 'Renewal of Twins', amount: 1200 }),
		company: await createRecord('/v1/companies', { name: company }),
	};
	await createRecord('/v1/companies', { name: company });
});

const long = 'word '.repeat(2_000);

type Call = [tool: string, createInput: () => unknown];
const updateDeal = (values?: unknown, more: IDataObject = {}): Call =>
	['change', () => ({ kind: 'deal', action: 'update', record: ids.deal, values, ...more })];
const actOnDeal = (action: string, values?: IDataObject): Call => ['act', () => ({ kind: 'deal', action, record: ids.deal, values })];
const searchDeals = (filters: IDataObject): Call => ['search', () => ({ kind: 'deal', filters })];
const countDeals = (filters: IDataObject): Call => ['count', () => ({ kind: 'deal', filters })];
const surname = { last_name: 'X' };

/** Bad input and the answer to it. */
const bad: Array<[what: string, ...call: Call, answer: RegExp]> = [
	['no arguments at all', 'search', () => ({}), /kind is missing.*contact, company/],
	['nothing in place of arguments', 'change', () => undefined, /kind is missing/],
	['empty arguments', 'change', () => ({ kind: 'contact', action: '', record: '', values: {} }), /action is missing.*create, update/],
	[
		'a number that has lost its last digits', 'get', () => ({ kind: 'contact', record: 2 ** 53 }),
		/record: 9007199254740992 is so large.*Pass it as text/,
	],
	['a misspelt name', 'get', () => ({ kind: 'deal', record: 'Renewel of Twins' }), /No deal is called.*Similar: Renewal of Twins.*dea_/],
	[
		'an id of another kind', 'change', () => ({ kind: 'contact', action: 'update', record: ids.deal, values: surname }),
		/no contact with the id dea_.*another kind/,
	],
	[
		'a name that two have', 'change', () => ({ kind: 'contact', action: 'update', record: 'Tess Twin', values: surname }),
		/tess\.one@x\.example.*tess\.other@x\.example|tess\.other@x\.example.*tess\.one@x\.example/,
	],
	[
		'two thousand words for a value', 'change', () => ({ kind: 'contact', action: 'create', values: { last_name: long } }),
		/Last Name|last_name/,
	],
	['two thousand words to find', 'search', () => ({ kind: 'contact', query: long }), /query has \d+ characters; the maximum is 2000/],
	['one good field and one that does not exist', ...updateDeal({ amount: 1, colour: 'red' }), /no field colour.*title/s],
	['values that are not an object', ...updateDeal('amount 5'), /values takes an object/],
	['no values', ...updateDeal(), /values is missing/],
	['an owner who does not exist', ...updateDeal({ owner: 'Nobody' }), /Owner.*Nobody.*usr_/],
	[
		'a company name that two companies have', 'change', () => ({ kind: 'contact', action: 'create', values: { last_name: 'X', company } }),
		/several records of companies.*They are Twins Inc\./,
	],
	['a value that an action does not take', ...actOnDeal('win', { amount: 5 }), /win does not take amount/],
	[
		'a field that an action does not take', 'act', () => ({ kind: 'message', action: 'logIncoming', values: { scheduled_at: 'x' } }),
		/Log Incoming does not take scheduled_at\. Log Incoming takes .*external_id.*Nothing was written/,
	],
	['delete all', 'change', () => ({ kind: 'contact', action: 'delete', record: 'all' }), /No contact is called all/],
	['delete without a record', 'change', () => ({ kind: 'contact', action: 'delete' }), /record is missing\. Send the id or the name/],
	['a filter that excludes a choice', ...searchDeals({ status: { ne: 'open' } }), /by ne\. It takes a value, a list of values\./],
	['a list of bounds', ...searchDeals({ amount: { between: [1, 2] } }), /amount cannot be filtered by between\. It takes a value, .*gte/],
	['null as a filter', ...countDeals({ amount: null }), /amount cannot be filtered by null\. It takes a value, .*, empty/],
	['a group that is an object', 'count', () => ({ kind: 'contact', group_by: 'address' }), /no field address\..*address\.city/],
	['a value in words', ...updateDeal({ amount: '1,200' }), /not a number such as 12\.5\. Nothing was written\.( |$)/],
	['an order that does not exist', 'search', () => ({ kind: 'deal', sort: 'beauty' }), /sort cannot be "beauty".*-amount/],
	['two names of one field', ...updateDeal({ company: 'Fjord', company_id: null }), /“company” and “company_id” both map/],
	['two names of what an action takes', ...actOnDeal('moveToStage', { stage: 'Demo', stage_id: 'x' }), /stage_id and another name mean the/],
	['a rounded id', ...actOnDeal('moveToStage', { stage: 2 ** 53 }), /stage: 9007199254740992 is so/],
	['an id beside the values of an update', ...updateDeal({ id: 'dea_1', title: 'C' }), /values must not contain id.*record/],
	['a tag beside values', ...updateDeal({ amount: 2 }, { tag: 'Partner' }), /update takes no tag.*record, values/],
	['several records', ...updateDeal({ amount: 2 }, { records: ['x', 'y'] }), /no argument records/],
	['values of a deletion', ...updateDeal({ amount: 2 }, { action: 'delete' }), /delete takes no values/],
	['a limit of nothing', 'search', () => ({ kind: 'deal', limit: 0 }), /limit takes a whole number from 1 to 50/],
];

const writes = async () => (await sandbox.requests()).filter(({ method, status }) => method !== 'GET' && status < 300);

test.each(bad)('%s: the message explains what to send, and nothing is written', async (_what, tool, createInput, answer) => {
	const call = await callerOf(sandbox.credential, { writes: allWrites });
	const text = (await call(tool, createInput())).map((answer) => Object.values(answer).join(' ')).join(' ');
	expect(text).toMatch(answer);
	expect(text.length).toBeLessThan(1_600);
	expect(await writes()).toEqual([]);
});

describe('operations that the author does not allow', () => {
	test('have no tool, no action and no record type', async () => {
		const call = await callerOf(sandbox.credential, { kinds: ['deal'], writes: ['update', 'act'] });
		expect(JSON.stringify(await call('search', { kind: 'contact' }))).toMatch(/kind cannot be/);
		expect(JSON.stringify(await call('change', { kind: 'deal', action: 'delete', record: ids.deal }))).toMatch(/action cannot be \\"delete/);
		await expect(async () => await (await callerOf(sandbox.credential))('change', {})).rejects.toThrow();
	});
});

const service = alteredService(sandbox, true);

const callTool = callerOfNewNodes(service, { writes: allWrites, options: { maxWait: 1 } });

const status = async (path: string) => (await sandbox.call('GET', path)).status;
const text = (answer: IDataObject[]) => JSON.stringify(answer);

describe('sending messages requires Send in May Write', () => {
	const values = { channel: 'email', to: ['x@y.example'], text: 'Hi', direction: 'outbound' };

	test('a message is not sent by upsert', async () => {
		const external = randomUUID();
		const upsert = { kind: 'message', action: 'upsert', match_on: 'external_id', values: { ...values, external_id: external } };
		expect(text(await callTool('change', upsert, { writes: ['upsert', 'create', 'act'] }))).toMatch(/Send in May Write/);
		expect((await sandbox.read(`messages?external_id=${external}`)).data).toEqual([]);
	});

	test('a scheduled message is not changed by update or deleted', async () => {
		const message = await sandbox.create('messages', { ...values, scheduled_at: '2030-01-01T00:00:00Z' });
		const update = { kind: 'message', action: 'update', record: message.id, values: { to: ['evil@y.example'] } };
		expect(text(await callTool('change', update, { writes: ['update', 'act'] }))).toMatch(/Send in May Write/);
		const deletion = { kind: 'message', action: 'delete', record: message.id };
		expect(text(await callTool('change', deletion, { writes: ['delete', 'act'] }))).toMatch(/Send in May Write/);
		expect(await sandbox.read(`messages/${message.id}`)).toMatchObject({ to: ['x@y.example'], version: message.version });
		expect(text(await callTool('change', update, { writes: ['update', 'send'] }))).toMatch(/"done"/);
	});

	test.each([
		['logIncoming', { values: { channel: 'email', from: 'x@y.example', to: ['a@b.example'], text: 'Logged' } }],
		['cancel', { record: 'scheduled' }],
	])('an action with messages (%s), even if it sends nothing', async (action, input: IDataObject) => {
		const message = await sandbox.create('messages', { ...values, scheduled_at: '2030-01-01T00:00:00Z' });
		const actionCall = { kind: 'message', action, ...input, ...(input.record !== undefined && { record: message.id }) };
		service.passed.length = 0;
		expect(text(await callTool('act', actionCall, { writes: ['act', 'update'], kinds: ['message', 'deal'] }))).toMatch(/Send in May Write/);
		expect(service.passed.filter((request) => !request.startsWith('GET'))).toEqual([]);
		expect(text(await callTool('act', actionCall, { writes: ['send'] }))).toMatch(/"done"/);
	});

	test('the tool is not offered where nothing else is allowed', async () => {
		await expect(callerOf(service.credential, { kinds: ['message'], writes: ['update'], tools: ['change'] })).rejects.toThrow(
			'May Write is empty',
		);
	});
});

test('what a timeline leaves out is in the answer', async () => {
	service.alter({ request: ({ url }) => (url.pathname === '/v1/notes' ? { status: 403, body: '{"code":"forbidden"}' } : undefined) });
	const { id } = await sandbox.create('contacts', { last_name: 'Partly visible' });
	const answer = text(await callTool('get', { kind: 'contact', record: id, timeline: true }));
	expect(answer.match(/records of the kind \w+ were left out/g)).toEqual(['records of the kind Note were left out']);
});

describe('unclear requests are refused', () => {
	test('described writes are possible: changes of the record type, and required fields', async () => {
		const described = async (kind: string) => text(await callTool('describe', { kind }));
		expect(await described('message')).toContain('"changes":"update, upsert, delete"');
		expect(await described('deal')).toMatch(/"title":"text, required"/);
		expect(await described('note')).toMatch(/"body":"[^"]*, required"/);
	});

	test('a name that too many records contain', async () => {
		const others = Array.from({ length: 500 }, (_, i) => ({ id: `com_${i}`, name: `Acme ${i}` }));
		service.edit(({ path, body }) => {
			if (path.startsWith('/v1/companies?')) Object.assign(body, { data: others, next_cursor: 'more', total: undefined });
		});
		const answer = text(await callTool('change', { kind: 'company', action: 'delete', record: 'Acme' }));
		expect(answer).toMatch(/ by its name: more than 500 records contain it\. Find it with \w+_search, and send its id\. Nothing/);
	});

	test('a different record in place of the requested one', async () => {
		const [mergedContact, survivor] = [
			await sandbox.create('contacts', { last_name: 'Merged' }), await sandbox.create('contacts', { last_name: 'Survivor' }),
		];
		service.edit(({ path, body }) => {
			if (path === `/v1/contacts/${mergedContact.id}`) Object.assign(body, survivor);
		});
		const answer = text(await callTool('change', { kind: 'contact', action: 'delete', record: mergedContact.id }));
		expect(answer).toContain(survivor.id);
		expect(answer).toMatch(/merged.*Nothing was written/);
		expect(await status(`/v1/contacts/${survivor.id}`)).toBe(200);
	});
});
