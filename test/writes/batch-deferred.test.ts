import { peopleByEmail, useBatchWrites } from '../support/batch-writes.ts';
import { automatic, create, update } from '../support/parameters.ts';

const { sandbox, run, found, writes } = useBatchWrites();

describe('an item of a batch that the CRM deferred', () => {
	const path = '/v1/contacts/batch';
	const batchAnswer = (status: number) => ({
		status: 207,
		body: {
			results: [
				{ index: 0, status: 201, data: { id: 'con_0' } },
				{ index: 1, status, error: { code: 'unavailable' } },
			],
		},
	});

	test('with 429 is written once, by a separate request', async () => {
		const status = 429;
		await sandbox.faults(
			{ path, times: 1, ...batchAnswer(status) },
			{ path: '/v1/contacts', method: 'POST', times: 1, drop: 'after' },
		);
		const name = 'deferred';
		const { items } = await run(create('contact', automatic), peopleByEmail(name, 2));
		expect(items[0]?.json).toEqual({ id: 'con_0' });
		expect(items[1]?.json.email).toBe(`${name}-1@batches.example`);
		expect(await found(name)).toBe(1);
	});

	test.each([408, 500, 503])('with %i is reported: it may have been written, and is not written twice', async (status) => {
		await sandbox.faults({ path, ...batchAnswer(status) });
		const { items } = await run(create('contact', automatic), peopleByEmail('unsure', 2), { continueOnFail: true });
		expect(JSON.stringify(items[1]?.json)).toContain('It may have been written. Check the record');
		expect(await writes()).toHaveLength(1);
	});

	test('with 503 is changed by a separate request if repeating it changes nothing', async () => {
		const ids = await Promise.all(
			['One', 'Two'].map(async (name) => (await sandbox.create('contacts', { last_name: name })).id),
		);
		const results = [{ index: 0, status: 200, data: { id: ids[0] } }, { index: 1, status: 503, error: {} }];
		await sandbox.faults({ path, times: 1, status: 207, body: { results } });
		const { items } = await run(update('contact', '={{ $json.id }}', { last_name: 'Changed' }), ids.map((id) => ({ id })));
		expect(items[1]?.json).toMatchObject({ id: ids[1], last_name: 'Changed' });
	});

	test('is reported if a later item has changed the same record', async () => {
		const { id } = await sandbox.create('contacts', { last_name: 'Twice' });
		const results = [{ index: 0, status: 503, error: {} }, { index: 1, status: 200, data: { id } }];
		await sandbox.faults({ path, status: 207, body: { results } });
		const { items } = await run(
			update('contact', '={{ $json.id }}', { last_name: '={{ $json.name }}' }),
			['earlier', 'later'].map((name) => ({ id: id, name })),
			{ continueOnFail: true },
		);
		expect(items[0]?.json.error).toContain('The CRM failed (503)');
		expect(await writes()).toHaveLength(1);
	});

	test('is not retried after another one was deferred for too long: each would wait as long', async () => {
		const results = [0, 1, 2].map((index) => ({ index, status: 429, error: {} }));
		const headers = { 'retry-after': '0' };
		await sandbox.faults(
			{ path, status: 207, body: { results } },
			{ path: '/v1/contacts', method: 'POST', status: 503, headers },
		);
		const { items } = await run(create('contact', automatic), peopleByEmail('for-good', 3), { continueOnFail: true });
		expect(items.map(({ json }) => typeof json.error)).toEqual(['string', 'string', 'string']);
		const alone = (await writes()).filter((request) => request.path === '/v1/contacts');
		expect(new Set(alone.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
	});
});
