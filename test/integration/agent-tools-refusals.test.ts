import type { IDataObject } from 'n8n-workflow';

import { allWrites, callerOf } from './harness/agent-tools.ts';
import { useSandbox } from './harness/sandbox.ts';

const sandbox = useSandbox();

const company = 'Twins Inc.';
let ids: Record<'firstTwin' | 'secondTwin' | 'deal' | 'company', string>;

beforeAll(async () => {
	const createRecord = async (path: string, body: IDataObject) => String((await sandbox.call('POST', path, body)).body.id);
	ids = {
		firstTwin: await createRecord('/v1/contacts', { first_name: 'Tess', last_name: 'Twin', email: 'tess.one@x.example' }),
		secondTwin: await createRecord('/v1/contacts', { first_name: 'Tess', last_name: 'Twin', email: 'tess.other@x.example' }),
		deal: await createRecord('/v1/deals', { title: 'Renewal of Twins', amount: 1200 }),
		company: await createRecord('/v1/companies', { name: company }),
	};
	await createRecord('/v1/companies', { name: company });
});

const long = 'word '.repeat(2_000);

/** Bad input and the answer to it. */
const bad: Array<[what: string, tool: string, given: () => unknown, answer: RegExp]> = [
	['no arguments at all', 'search', () => ({}), /kind is missing.*contact, company/],
	['nothing in place of arguments', 'change', () => undefined, /kind is missing/],
	['empty arguments', 'change', () => ({ kind: 'contact', action: '', record: '', values: {} }), /action is missing.*create, update/],
	['a record type that does not exist', 'get', () => ({ kind: 'invoice', record: 'x' }), /kind cannot be "invoice".*contact/],
	['an argument that does not exist', 'get', () => ({ kind: 'contact', name: 'Ada' }), /no argument name.*kind, record/],
	['no record', 'get', () => ({ kind: 'contact' }), /record is missing/],
	['a record that does not exist', 'get', () => ({ kind: 'contact', record: 'Nobody Atall' }), /No contact is called Nobody Atall/],
	['a misspelt name', 'get', () => ({ kind: 'deal', record: 'Renewel of Twins' }), /No deal is called.*Similar: Renewal of Twins.*dea_/],
	['an id of another kind', 'change', () => ({ kind: 'contact', action: 'update', record: ids.deal, values: { last_name: 'X' } }), /no contact with the id dea_.*another kind/],
	['a name that two have', 'change', () => ({ kind: 'contact', action: 'update', record: 'Tess Twin', values: { last_name: 'X' } }), /tess\.one@x\.example.*tess\.other@x\.example|tess\.other@x\.example.*tess\.one@x\.example/],
	['two thousand words for a name', 'change', () => ({ kind: 'contact', action: 'update', record: long, values: { last_name: 'X' } }), /record has \d+ characters; the maximum is 255/],
	['two thousand words for a value', 'change', () => ({ kind: 'contact', action: 'create', values: { last_name: long } }), /Last Name|last_name/],
	['two thousand words to find', 'search', () => ({ kind: 'contact', query: long }), /query has \d+ characters; the maximum is 200/],
	['a field that does not exist', 'change', () => ({ kind: 'deal', action: 'update', record: ids.deal, values: { colour: 'red' } }), /no field colour.*title/s],
	['one good field and one that does not exist', 'change', () => ({ kind: 'deal', action: 'update', record: ids.deal, values: { amount: 1, colour: 'red' } }), /no field colour/],
	['a field that only the CRM sets', 'change', () => ({ kind: 'deal', action: 'update', record: ids.deal, values: { amount: 1, status: 'won' } }), /status/],
	['a choice that does not exist', 'change', () => ({ kind: 'deal', action: 'update', record: ids.deal, values: { source: 'telepathy' } }), /website, referral/],
	['text for a number', 'change', () => ({ kind: 'deal', action: 'update', record: ids.deal, values: { amount: 'a lot' } }), /Amount/],
	['values that are not an object', 'change', () => ({ kind: 'deal', action: 'update', record: ids.deal, values: 'amount 5' }), /values takes an object/],
	['no values', 'change', () => ({ kind: 'deal', action: 'update', record: ids.deal }), /values is missing/],
	['an owner who does not exist', 'change', () => ({ kind: 'deal', action: 'update', record: ids.deal, values: { owner: 'Nobody' } }), /Owner.*Nobody.*usr_/],
	['a company name that two companies have', 'change', () => ({ kind: 'contact', action: 'create', values: { last_name: 'X', company } }), /several records of companies.*They are Twins Inc\./],
	['a stage that does not exist', 'act', () => ({ kind: 'deal', action: 'moveToStage', record: ids.deal, values: { stage: 'Limbo' } }), /Qualified, Demo/],
	['an action that does not exist', 'act', () => ({ kind: 'deal', action: 'explode', record: ids.deal }), /action cannot be "explode".*win/],
	['an action without its value', 'act', () => ({ kind: 'deal', action: 'moveToStage', record: ids.deal }), /Stage is empty/],
	['a value that an action does not take', 'act', () => ({ kind: 'deal', action: 'win', record: ids.deal, values: { amount: 5 } }), /win does not take amount/],
	['delete all', 'change', () => ({ kind: 'contact', action: 'delete', record: 'all' }), /No contact is called all/],
	['delete without a record', 'change', () => ({ kind: 'contact', action: 'delete' }), /all at once is not possible/],
	['delete two without their number', 'change', () => ({ kind: 'contact', action: 'delete', records: [ids.firstTwin, ids.secondTwin] }), /would delete 2 records.*send count: 2/],
	['delete two with another number', 'change', () => ({ kind: 'contact', action: 'delete', records: [ids.firstTwin, ids.secondTwin], count: 5 }), /would delete 2 records/],
	['delete two, one of which does not exist', 'change', () => ({ kind: 'contact', action: 'delete', records: [ids.firstTwin, 'Nobody Atall'], count: 2 }), /No contact is called Nobody Atall/],
	['a filter that does not exist', 'search', () => ({ kind: 'deal', filters: { colour: 'red' } }), /no filter colour.*stage_id/],
	['a comparison that a field does not have', 'search', () => ({ kind: 'deal', filters: { status: { gte: 'open' } } }), /status cannot be filtered by gte/],
	['a filter that excludes a choice', 'search', () => ({ kind: 'deal', filters: { status: { ne: 'open' } } }), /cannot be filtered by ne\. It takes a value, a list of values\. To exclude, send the others: \{"status": \["won","lost"\]\}/],
	['a filter that excludes a text', 'search', () => ({ kind: 'deal', filters: { title: { not_in: ['x'] } } }), /cannot be filtered by not_in.*Filters cannot exclude/],
	['a list of bounds', 'search', () => ({ kind: 'deal', filters: { amount: { between: [1, 2] } } }), /amount cannot be filtered by between\. It takes a value, .*gte/],
	['null as a filter', 'count', () => ({ kind: 'deal', filters: { amount: null } }), /amount: null is not a value to filter by\. Send \{"empty": true\}/],
	['null as the filter of a field that is never empty', 'count', () => ({ kind: 'deal', filters: { status: null } }), /status: null is not a value.*leave this filter out/],
	['a group that is an object', 'count', () => ({ kind: 'contact', group_by: 'address' }), /no field address\..*address\.city/],
	['a value in words', 'change', () => ({ kind: 'deal', action: 'update', record: ids.deal, values: { amount: '1,200' } }), /not a number such as 12\.5\. Nothing was written\.$|not a number such as 12\.5\. Nothing was written\. /],
	['an order that does not exist', 'search', () => ({ kind: 'deal', sort: 'beauty' }), /no order beauty.*amount/],
	['a limit of nothing', 'search', () => ({ kind: 'deal', limit: 0 }), /limit takes a whole number from 1 to 50/],
	['a sum of words', 'count', () => ({ kind: 'deal', sum: 'title' }), /title has no numbers/],
	['a group that does not exist', 'count', () => ({ kind: 'deal', group_by: 'colour' }), /no field colour/],
];

const writes = async () => (await sandbox.requests()).filter(({ method, status }) => method !== 'GET' && status < 300);

test.each(bad)('%s: the message explains what to send, and nothing is written', async (_what, tool, createInput, answer) => {
	const call = await callerOf(sandbox.credential, { writes: allWrites });
	const text = (await call(tool, createInput())).map((answer) => Object.values(answer).join(' ')).join(' ');
	expect(text).toMatch(answer);
	expect(text.length).toBeLessThan(1_600);
	expect(await writes()).toEqual([]);
});

test.each(bad.filter(([, tool]) => tool === 'change' || tool === 'act'))('with Ask Before Writing, too: %s', async (_what, tool, createInput, answer) => {
	const call = await callerOf(sandbox.credential, { writes: allWrites, askBeforeWriting: true });
	const answers = await call(tool, createInput());
	const text = answers.map((toolAnswer) => Object.values(toolAnswer).join(' ')).join(' ');
	// What only the service can judge is judged when it is sent.
	if (answers[0]!.token === undefined) expect(text).toMatch(answer);
	expect(await writes()).toEqual([]);
});

describe('operations that the author does not allow', () => {
	test('have no tool, no action and no record type', async () => {
		const call = await callerOf(sandbox.credential, { kinds: ['deal'], writes: ['update', 'act'] });
		expect(JSON.stringify(await call('search', { kind: 'contact' }))).toMatch(/kind cannot be/);
		expect(JSON.stringify(await call('change', { kind: 'deal', action: 'delete', record: ids.deal }))).toMatch(/action cannot be \\"delete/);
		await expect(async () => await (await callerOf(sandbox.credential))('change', {})).rejects.toThrow();
	});

	test('actions are not messages that leave the CRM', async () => {
		const call = await callerOf(sandbox.credential, { writes: ['act', 'create'] });
		expect(JSON.stringify(await call('act', { kind: 'message', action: 'send', values: { to: ['a@b.example'], text: 'Hi' } }))).toMatch(/Send in May Write/);
		expect(JSON.stringify(await call('change', { kind: 'message', action: 'create', values: { to: ['a@b.example'], text: 'Hi' } }))).toMatch(/create cannot write a message/);
		expect(await writes()).toEqual([]);
	});
});
