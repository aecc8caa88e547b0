import { peopleByEmail, transientFaults, useBatchWrites } from '../support/batch-writes.ts';
import { automatic, create } from '../support/parameters.ts';

const { sandbox, run, found, writes } = useBatchWrites();

describe('a batch whose first attempt fails', () => {
	test.each<[string, object]>([
		...transientFaults,
		['fewer results than items', { status: 207, body: { results: [], summary: {} } }],
	])('with %s is done once', async (kind, fault) => {
		const name = `once-${kind.replace(/\W+/g, '-')}`.toLowerCase();
		await sandbox.faults({ path: '/v1/contacts/batch', method: 'POST', times: 1, ...fault });
		const { items } = await run(create('contact', automatic), peopleByEmail(name, 3));
		expect(items).toHaveLength(3);
		expect(await found(name)).toBe(3);
		expect(new Set((await writes()).map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
	});

	test('with 413 is sent in halves', async () => {
		await sandbox.faults({ path: '/v1/contacts/batch', method: 'POST', times: 1, status: 413 });
		const { items } = await run(create('contact', automatic), peopleByEmail('half', 5));
		expect(items.map(({ json }) => json.email)).toEqual(peopleByEmail('half', 5).map(({ email }) => email));
		expect((await writes()).map(({ status }) => status)).toEqual([413, 207, 207]);
	});
});

describe('a batch that fails permanently', () => {
	test('fails each of its items', async () => {
		await sandbox.faults({ path: '/v1/contacts/batch', method: 'POST', status: 403, times: 1 });
		const { items } = await run(
			{ ...create('contact', automatic), options: { batchSize: 2 } },
			peopleByEmail('refused', 4),
			{ continueOnFail: true },
		);
		expect(items.filter(({ json }) => json.error)).toHaveLength(2);
		expect(await found('refused')).toBe(2);
	});
});

describe('results that a response gave for a batch', () => {
	const path = '/v1/contacts/batch';
	const batchAnswer = { results: [{ index: 1, status: 201, id: 'con_x', data: { id: 'con_x' } }] };
	const firstBatchAnswer = { path, method: 'POST', times: 1, status: 207, body: batchAnswer };

	test.each([
		['tells nothing', { status: 207, body: { results: [] } }, 'The CRM returned no result for this record'],
		['fails', { status: 403 }, 'This fault was injected.'],
	])('are kept if the repeated request %s', async (_, then, message) => {
		await sandbox.faults(firstBatchAnswer, { path, method: 'POST', ...then });
		const { items } = await run(create('contact', automatic), peopleByEmail('told', 2), { continueOnFail: true });
		expect(items.map(({ json }) => json.error ?? json.id)).toEqual([message, 'con_x']);
	});

	test('are completed by the results of the next response', async () => {
		await sandbox.faults(firstBatchAnswer);
		const { items } = await run(create('contact', automatic), peopleByEmail('completed', 2));
		expect(items.map(({ json }) => json.email ?? json.id)).toEqual(['completed-0@batches.example', 'con_x']);
	});
});
