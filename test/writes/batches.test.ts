import type { IDataObject } from 'n8n-workflow';

import { peopleByEmail, useBatchWrites } from '../support/batch-writes.ts';
import { automatic, create, deleteRecord, update, upsert } from '../support/parameters.ts';
import { shortenWaits } from '../support/short-waits.ts';

shortenWaits();
const { sandbox, run, found, writes } = useBatchWrites();

/** Contacts made without the node. */
async function createContacts(name: string, count: number): Promise<string[]> {
	const { body } = await sandbox.call('POST', '/v1/contacts/batch/create', { items: peopleByEmail(name, count) });
	const ids = (body.results as IDataObject[]).map(({ id }) => String(id));
	await sandbox.clear();
	return ids;
}

describe('many items', () => {
	test('are created by one request for a hundred, each linked to its item', async () => {
		const items = peopleByEmail('many', 250);
		const { items: output, decryptions } = await run(create('contact', automatic), items);
		expect(output).toHaveLength(250);
		for (const [i, { json, pairedItem }] of output.entries()) {
			expect({ email: json.email, pairedItem }).toEqual({ email: items[i]?.email, pairedItem: { item: i } });
		}
		expect((await writes()).map(({ path }) => path)).toEqual(new Array(3).fill('/v1/contacts/batch/create'));
		expect(decryptions).toBeLessThan(25);
	});

	test('are updated and deleted by one request', async () => {
		const ids = await createContacts('change', 20);
		const items = ids.map((id, i) => ({ id, first_name: `Name ${i}` }));
		const changed = await run(update('contact', '={{ $json.id }}', automatic), items);
		expect(changed.items.map(({ json }) => json.first_name)).toEqual(items.map(({ first_name: name }) => name));
		const gone = await run(deleteRecord('contact', '={{ $json.id }}'), items);
		expect(gone.items.map(({ json }) => json)).toEqual(ids.map(() => ({ deleted: true })));
		expect(await writes()).toHaveLength(2);
		expect(await found('change')).toBe(0);
	});

	test('are created or updated by one request', async () => {
		const [existingId = ''] = await createContacts('either', 1);
		const { items } = await run(
			upsert('contact', 'email', { email: '={{ $json.email }}', first_name: '={{ "N" + $itemIndex }}' }),
			peopleByEmail('either', 3),
		);
		expect(items.map(({ json }) => json.first_name)).toEqual(['N0', 'N1', 'N2']);
		expect(items[0]?.json.id).toBe(existingId);
		expect(await writes()).toHaveLength(1);
	});

	test('are sent one by one if the user chooses so, and otherwise in batches of the chosen size', async () => {
		const parameters = create('contact', automatic);
		await run({ ...parameters, options: { batchSize: 1 } }, peopleByEmail('single', 3));
		expect((await writes()).map(({ path }) => path)).toEqual(new Array(3).fill('/v1/contacts'));
		await sandbox.clear();
		await run({ ...parameters, options: { batchSize: 2 } }, peopleByEmail('pair', 4));
		expect(await writes()).toHaveLength(2);
	});

	test('for one record leave the values of the last item', async () => {
		const [id = ''] = await createContacts('last', 1);
		const { items } = await run(
			{ ...update('contact', id, { first_name: '={{ $json.n }}' }), options: { batchSize: 2 } },
			Array.from({ length: 12 }, (_, i) => ({ n: `Try ${i}` })),
		);
		expect(items.map(({ json }) => json.version)).toEqual(Array.from({ length: 12 }, (_, i) => i + 2));
		expect(items.at(-1)?.json.first_name).toBe('Try 11');
	});

	test('for one address, however it is written, leave the values of the last item', async () => {
		// The first batch would end after the second, if that did not wait for it.
		await sandbox.faults({ path: '/v1/contacts/batch', times: 1, latencyMs: 500 });
		const items = ['Case@Batches.example', 'one@a.example', 'case@batches.example', 'two@a.example'];
		const { items: output } = await run(
			{ ...upsert('contact', 'email', { email: '={{ $json.e }}', first_name: '={{ $itemIndex }}' }), options: { batchSize: 2 } },
			items.map((e) => ({ e })),
		);
		expect(output[2]?.json).toMatchObject({ id: output[0]?.json.id, version: 2, first_name: '2' });
	});
});

describe('an item that fails', () => {
	const items = (name: string) => [
		...peopleByEmail(`${name}-a`, 2),
		{ email: 'not an address' },
		...peopleByEmail(`${name}-b`, 2),
	];

	test('hides no other item, and is linked to its own', async () => {
		const { items: output } = await run(create('contact', automatic), items('linked'), { continueOnFail: true });
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual([0, 1, 2, 3, 4].map((item) => ({ item })));
		expect(output[2]?.json).toMatchObject({
			error: expect.stringMatching(/email/i),
			details: { status: 422, code: 'validation_failed', request_id: expect.any(String) },
		});
		expect(await found('linked')).toBe(4);
	});

	test('stops the node, which reports the results of all items', async () => {
		const failing = run(
			{ ...create('contact', automatic), options: { batchSize: 5 } },
			[...items('stop'), ...peopleByEmail('stop-c', 30)],
		);
		await expect(failing).rejects.toMatchObject({
			httpCode: '422',
			context: { itemIndex: 2 },
			description: expect.stringMatching(
				/Of 35 items, 19 succeeded and 1 failed \(item 2\)\. 15 were not tried\. To get a result for each item, set On Error/,
			),
		});
		expect(await found('stop')).toBe(19);
	});

	test('stops the node before a batch that waits for it to change the same record', async () => {
		const [id = ''] = await createContacts('waits', 1);
		const changes = (batchSize: number, more: IDataObject[]) =>
			run({ ...update('contact', '={{ $json.id }}', automatic), options: { batchSize } }, [{ id, email: 'not an address' }, ...more]);
		await expect(changes(2, [{ id, first_name: 'First' }, { id, first_name: 'Second' }])).rejects.toThrow(/email/i);
		expect(await sandbox.read(`contacts/${id}`)).toMatchObject({ first_name: 'First' });
	});

	test('because of its mapping is reported by name, and the others are written', async () => {
		const { items: output } = await run(
			create('deal', { title: 'Mapped', amount: '={{ $json.amount }}' }),
			[{ amount: 1 }, { amount: 'much' }, { amount: 3 }],
			{ continueOnFail: true },
		);
		expect(output.map(({ json }) => json.error ?? json.amount)).toEqual([
			1,
			"Amount: “much” is not a number such as 12.5",
			3,
		]);
	});
});

test.each([
	['a web page of a gateway', { status: 502, body: '<html></html>', contentType: 'text/html' }],
	['malformed JSON after the effect', { malformed: true }],
])('a batch whose first attempt gets %s is done once', async (kind, fault) => {
	const name = `once-${kind.replace(/\W+/g, '-')}`.toLowerCase();
	await sandbox.faults({ path: '/v1/contacts/batch', method: 'POST', times: 1, ...fault });
	const { items } = await run(create('contact', automatic), peopleByEmail(name, 3));
	expect(items).toHaveLength(3);
	expect(await found(name)).toBe(3);
	expect(new Set((await writes()).map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
});

test('a batch that is too large is sent in halves', async () => {
	await sandbox.faults({ path: '/v1/contacts/batch', method: 'POST', times: 1, status: 413 });
	const { items } = await run(create('contact', automatic), peopleByEmail('half', 5));
	expect(items.map(({ json }) => json.email)).toEqual(peopleByEmail('half', 5).map(({ email }) => email));
	expect((await writes()).map(({ status }) => status)).toEqual([413, 207, 207]);
});

describe('an item of a batch', () => {
	const path = '/v1/contacts/batch';
	const secondResult = async (second: object[], headers = {}) => {
		const body = { results: [{ index: 0, status: 201, data: { id: 'con_0' } }, ...second] };
		await sandbox.faults({ path, status: 207, body, headers });
		const { items } = await run(create('contact', automatic), peopleByEmail('unsure', 2), { continueOnFail: true });
		expect(await writes()).toHaveLength(1);
		expect(items[0]?.json).toEqual({ id: 'con_0' });
		return JSON.stringify(items[1]?.json);
	};

	test.each([408, 500, 503])('with %i may have been written, and is not written twice', async (status) => {
		const result = [{ index: 1, status, error: { code: 'unavailable' } }];
		for (const headers of [{}, { 'idempotent-replayed': 'true' }]) {
			expect(await secondResult(result, headers)).toContain('It may have been written. Check the record');
		}
	});

	test('with 429 has failed', async () => {
		const failure = await secondResult([{ index: 1, status: 429, error: {} }]);
		expect(failure).toContain('The rate limit of the account was reached');
		expect(failure).not.toContain('may have been written');
	});

	test('without a result may have been written', async () => {
		expect(await secondResult([])).toMatch(/returned no result for this record.*may have been written/);
	});
});
