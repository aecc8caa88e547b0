import type { IDataObject } from 'n8n-workflow';

import { peopleByEmail, useBatchWrites } from '../support/batch-writes.ts';
import { automatic, create, deleteRecord, getMany, on, upsert } from '../support/parameters.ts';
import type { Setup } from '../support/node-runs.ts';

const { sandbox, run, found, writes } = useBatchWrites();

const inShort = (parameters: Setup['parameters'], options: IDataObject = {}) => ({
	...parameters,
	options: { ...options, output: 'summary' },
});
const createInShort = inShort(create('contact', automatic));
/** What n8n stores of an output. */
const stored = (items: unknown): number => JSON.stringify(items).length;

test('n8n stores a few hundred creates as one line, like ten; every record is counted', async () => {
	const ten = await run(createInShort, peopleByEmail('ten', 10));
	const { items } = await run(createInShort, peopleByEmail('hundreds', 300));
	expect(stored(items)).toBeLessThan(stored(ten.items) + 20);
	expect(stored(items)).toBeLessThan(1_000);
	const { body } = await sandbox.call('GET', '/v1/contacts?q=hundreds&limit=500&sort=-created_at');
	expect(body.total).toBe(300);
	expect(items).toEqual([
		{
			json: {
				items: 300,
				succeeded: 300,
				failed: 0,
				records: 300,
				first_id: expect.any(String),
				last_id: expect.any(String),
				reasons: [],
				failures: [],
			},
			pairedItem: [{ item: 0 }, { item: 299 }],
		},
	]);
	const [{ json }] = items as [{ json: IDataObject }];
	for (const [id, email] of [[json.first_id, 'hundreds-0@batches.example'], [json.last_id, 'hundreds-299@batches.example']]) {
		expect(await sandbox.read(`contacts/${String(id)}`)).toMatchObject({ email });
	}
});

describe('if items fail,', () => {
	const wrong = (name: string) => peopleByEmail(name, 5).map((person, i) => (i === 1 || i === 3 ? { email: 'not an address' } : person));
	const items = wrong('some');
	const failed = (item: number) => ({
		item,
		message: expect.stringContaining('email'),
		details: expect.objectContaining({ status: 422, code: 'validation_failed', request_id: expect.any(String) }),
	});

	test('each failure is in the summary, with everything its own item would report', async () => {
		const { items: output } = await run(createInShort, items, { continueOnFail: true });
		expect(output).toHaveLength(1);
		expect(output[0]!.json).toMatchObject({ items: 5, succeeded: 3, failed: 2, records: 3, failures: [failed(1), failed(3)] });
		const { items: long } = await run(create('contact', automatic), items.slice(1, 2), { continueOnFail: true });
		const [failure] = output[0]!.json.failures as IDataObject[];
		expect(Object.keys(failure!.details as object)).toEqual(Object.keys(long[0]!.json.details as object));
	});

	test('thousands are counted by their reasons, and the first twenty are shown', async () => {
		const people = Array.from({ length: 2_000 }, (_, i) => ({ first_name: 'A', email: `no address ${i}` }));
		const { items: output } = await run(createInShort, people, { continueOnFail: true });
		const { failed: count, failures, reasons } = output[0]!.json;
		expect([count, (failures as unknown[]).length]).toEqual([2_000, 20]);
		expect(reasons).toEqual([{ count: 2_000, message: expect.stringContaining('email') }]);
		expect(stored(output)).toBeLessThan(20_000);
	});

	test('each failure also goes to the error output, as without a summary', async () => {
		const { items: output } = await run(createInShort, wrong('apart'), { continueOnFail: 'errorOutput' });
		const [summary, ...errors] = output;
		expect(summary!.json).toMatchObject({ succeeded: 3, failed: 2, failures: [failed(1), failed(3)] });
		expect(errors.map(({ pairedItem }) => pairedItem)).toEqual((summary!.json.failures as IDataObject[]).map(({ item }) => ({ item })));
		// n8n takes an item with exactly these for an error.
		for (const { json } of errors) expect(Object.keys(json)).toEqual(['error', 'message', 'details']);
	});

	test('the first failure stops the node as without a summary, and its error has the results of the others', async () => {
		const more = peopleByEmail('stops', 5).map((person, i) => (i === 2 ? { email: 'not an address' } : person));
		await expect(run(createInShort, more)).rejects.toMatchObject({
			message: expect.stringContaining('email'),
			description: expect.stringContaining('Of 5 items, 4 succeeded and 1 failed (item 2)'),
		});
		expect(await found('stops')).toBe(4);
	});
});

test('an upsert reports how many records it created and updated', async () => {
	await run(create('contact', automatic), peopleByEmail('either', 2));
	const parameters = inShort(upsert('contact', 'email', { email: '={{ $json.email }}', first_name: 'Ada' }));
	const { items } = await run(parameters, peopleByEmail('either', 5));
	expect(items.map(({ json }) => json)).toMatchObject([{ items: 5, succeeded: 5, created: 3, updated: 2 }]);
	expect((await run(parameters, peopleByEmail('either', 5))).items[0]!.json).toMatchObject({ created: 0, updated: 5 });
});

test('actions on records are summarized, and so are deletions, which have no ID to report', async () => {
	const { items } = await run(create('contact', automatic), peopleByEmail('gone', 3));
	const ids = items.map(({ json }) => ({ id: json.id as string }));
	const tag = await sandbox.list('tags?limit=1');
	const tagId = { __rl: true, mode: 'id', value: tag[0]!.id };
	const tagged = await run(inShort(on('recordTag', 'addTag', '={{ $json.id }}', { kind: 'contact', tagId })), ids);
	expect(tagged.items.map(({ json }) => json)).toMatchObject([{ succeeded: 3, first_id: ids[0]!.id, last_id: ids[2]!.id }]);
	const gone = await run(inShort(deleteRecord('contact', '={{ $json.id }}')), ids);
	expect(gone.items.map(({ json }) => json)).toMatchObject([{ succeeded: 3, records: 3, first_id: null, last_id: null }]);
	expect(await found('gone')).toBe(0);
});

test('a list is counted, with its first and last ID, also for an agent', async () => {
	const parameters = inShort(getMany('contact', { returnAll: true }));
	const { body } = await sandbox.call('GET', '/v1/contacts?limit=500');
	for (const isTool of [false, true]) {
		const { items } = await run(parameters, [{}], { isTool });
		expect(items.map(({ json }) => json)).toMatchObject([
			{ records: body.total, succeeded: 1, failed: 0, first_id: (body.data as IDataObject[])[0]!.id },
		]);
	}
});

test.each([
	['one page, whose cursor it would lose', inShort(getMany('contact'), { onePage: true }), /One Page and Return/],
	[
		'another word', { ...create('contact', { email: 'word@batches.example' }), options: { output: 'short' } },
		/Return: enter one of items, summary/,
	],
])('nothing is sent for a summary of %s', async (_, parameters, expectedMessage) => {
	await sandbox.clear();
	await expect(run(parameters, [{ count: 1 }, { count: 2 }])).rejects.toThrow(expectedMessage);
	expect(await writes()).toEqual([]);
	expect((await sandbox.requests()).filter(({ path }) => path === '/v1/contacts')).toEqual([]);
});
