import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';

import { getGroupFields, getSumFields } from '../../nodes/CrmPlatform/pickers/listOptions';
import { alteredService } from '../support/altered-service.ts';
import { nodeRuns, picker } from '../support/node-runs.ts';
import { filterRows } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const service = alteredService(sandbox);
const { run, failure } = nodeRuns(sandbox);
const count = (more: IDataObject, filters: IDataObject = {}) =>
	({ resource: 'deal', operation: 'count', filters: filterRows(filters), ...more });
const counted = async (...[more, filters]: Parameters<typeof count>) => (await run(count(more, filters))).items.map(({ json }) => json);

/** Deals with a title of their own. */
async function deals(...values: IDataObject[]): Promise<{ title: string }> {
	const title = randomUUID();
	for (const value of values) await sandbox.create('deals', { title, ...value });
	await sandbox.clear();
	return { title };
}

test('the number of matching records comes from the service, with one request', async () => {
	const mine = await deals({}, {});
	expect(await counted({}, mine)).toEqual([{ count: 2 }]);
	expect((await sandbox.requests()).filter(({ path }) => path === '/v1/deals')).toHaveLength(1);
});

test('records are counted by choice and by linked record, with its name, without reading them', async () => {
	const [user, other] = await sandbox.list('users?limit=2');
	const mine = await deals({ owner_id: user!.id }, { owner_id: user!.id }, { owner_id: other!.id });
	const { items, hints } = await run(count({ groupBy: ['owner_id'] }, mine));
	expect(items.map(({ json }) => json)).toEqual([
		{ owner_id: user!.id, owner_name: user!.name, count: 2 },
		{ owner_id: other!.id, owner_name: other!.name, count: 1 },
	]);
	expect(hints).toEqual([]);
	const reads = (await sandbox.requests()).filter(({ path }) => path === '/v1/deals');
	expect(reads.every(({ query }) => query.includes('limit=1&') || query.endsWith('limit=1'))).toBe(true);
	expect(await counted({ groupBy: ['status'] }, mine)).toEqual([{ status: 'open', count: 3 }]);
});

test('numbers are added up for each group and currency, and a hint says how many records were read', async () => {
	const euros = [100, 50.5, null].map((amount) => ({ amount, currency: 'EUR' }));
	const mine = await deals(...euros, { amount: 7, currency: 'USD' });
	const { items, hints } = await run(count({ groupBy: ['status'], sumOf: ['amount'] }, mine));
	expect(items.map(({ json }) => json)).toEqual([
		{ status: 'open', currency: 'EUR', count: 3, sum_amount: 150.5, average_amount: 75.25, min_amount: 50.5, max_amount: 100 },
		{ status: 'open', currency: 'USD', count: 1, sum_amount: 7, average_amount: 7, min_amount: 7, max_amount: 7 },
	]);
	expect(hints).toEqual(['Count: 4 records were read, since the CRM does not count or add up in this way itself.']);
});

test('times are grouped by day, week and month in the workflow’s time zone', async () => {
	const mine = await deals(...['2025-03-31', '2025-04-01', '2025-04-02'].map((day) => ({ expected_close_date: day })), {});
	const byPeriod = async (period: string) =>
		(await counted({ groupBy: [`expected_close_date:${period}`] }, mine)).map((row) => [row.expected_close_date, row.count]);
	expect(await byPeriod('month')).toEqual([['2025-03-01', 1], ['2025-04-01', 2], [null, 1]]);
	expect(await byPeriod('week')).toEqual([['2025-03-31', 3], [null, 1]]);
	expect(await byPeriod('day')).toEqual([['2025-03-31', 1], ['2025-04-01', 1], ['2025-04-02', 1], [null, 1]]);
});

test('periods are in order within the groups before them, and those are by their size', async () => {
	const days = { USD: ['2025-04-01', '2025-04-02', '2025-03-01'], EUR: ['2025-05-01', '2025-03-02'] };
	const mine = await deals(...Object.entries(days).flatMap(([currency, of]) => of.map((day) => ({ currency, expected_close_date: day }))));
	const rows = await counted({ groupBy: ['currency', 'expected_close_date:month'] }, mine);
	const months = [['USD', '2025-03-01'], ['USD', '2025-04-01'], ['EUR', '2025-03-01'], ['EUR', '2025-05-01']];
	expect(rows.map((row) => [row.currency, row.expected_close_date])).toEqual(months);
});

test('a time is grouped by one period: a row has one column for it', async () => {
	const { message } = await failure(count({ groupBy: ['created_at:month', 'created_at:day'] }));
	expect(message).toContain('Created At can be grouped by one period only');
});

test('choices that the service would take for several values are counted by reading', async () => {
	const key = `k${randomUUID().slice(0, 8)}`;
	const options = ['red', 'blue'].map((value) => ({ value, label: value }));
	await sandbox.create('custom-fields', { resource: 'deals', key, label: 'Look', type: 'select', options });
	const mine = await deals({ custom_fields: { [key]: 'red' } }, { custom_fields: { [key]: 'red' } }, { custom_fields: { [key]: 'blue' } });
	service.edit(({ path, body }) => {
		const [field] = path.startsWith('/v1/custom-fields') ? (body.data as IDataObject[]).filter((definition) => definition.key === key) : [];
		if (field) field.options = [...options, { value: 'black, white', label: 'Both' }];
	});
	const rows = await nodeRuns(service).output(count({ groupBy: [`custom_fields.${key}`] }, mine));
	expect(rows.map((row) => [row[`custom_fields.${key}`], row.count])).toEqual([['red', 2], ['blue', 1]]);
});

test('custom fields are grouped and added up as any', async () => {
	const key = `k${randomUUID().slice(0, 8)}`;
	const options = ['gold', 'silver'].map((value) => ({ value, label: value }));
	await sandbox.create('custom-fields', { resource: 'deals', key, label: 'Tier', type: 'select', options });
	await sandbox.create('custom-fields', { resource: 'deals', key: `${key}n`, label: 'Seats', type: 'number' });
	const values = [['gold', 2], ['gold', 3.5], ['silver', 1]];
	const mine = await deals(...values.map(([tier, seats]) => ({ custom_fields: { [key]: tier, [`${key}n`]: seats } })));
	const field = `custom_fields.${key}`;
	const { items, hints } = await run(count({ groupBy: [field] }, mine));
	expect(items.map(({ json }) => [json[field], json.count])).toEqual([['gold', 2], ['silver', 1]]);
	expect(hints).toEqual([]);
	expect((await counted({ groupBy: [field], sumOf: [`${field}n`] }, mine)).map((row) => row[`sum_${field}n`])).toEqual([5.5, 1]);
});

test('a record with several values counts in the group of each', async () => {
	const [first, second] = await Promise.all(['a', 'b'].map(async (name) => await sandbox.create('tags', { name: name + randomUUID() })));
	const mine = await deals({ tag_ids: [first!.id, second!.id] }, { tag_ids: [first!.id] }, {});
	const rows = await counted({ groupBy: ['tag_ids'] }, mine);
	expect(rows.map((row) => [row.tag_ids, row.count])).toEqual([[first!.id, 2], [second!.id, 1], [null, 1]]);
});

test('if the groups do not add up, since a linked record was deleted, the records are read', async () => {
	const company = await sandbox.create('companies', { name: randomUUID() });
	const mine = await deals({ company_id: company.id }, {});
	await sandbox.call('DELETE', `/v1/companies/${company.id}`);
	const { items, hints } = await run(count({ groupBy: ['company_id'] }, mine));
	expect(items.map(({ json }) => [json.company_id, json.count])).toEqual([[company.id, 1], [null, 1]]);
	expect(hints.join()).toContain('2 records were read');
});

test('a field without numbers is not added up, and the sum of others is exact: as text, if a number cannot hold it', async () => {
	const { message } = await failure(count({ sumOf: ['title'] }));
	expect(message).toContain('Title has no numbers to add up. Fields with numbers: amount, probability');
	const figures = async (...numbers: unknown[]) => {
		service.edit(({ path, body }) => {
			const data = numbers.map((probability, id) => ({ id, probability }));
			if (path.startsWith('/v1/deals?')) Object.assign(body, { data, next_cursor: null, total: data.length });
		});
		return (await nodeRuns(service).output(count({ sumOf: ['probability'] })))[0]!;
	};
	expect(await figures(1e21, '1e21', '0.5')).toMatchObject({
		sum_probability: '2000000000000000000000.5', max_probability: 1e21, min_probability: 0.5,
	});
	const maxSafe = Number.MAX_SAFE_INTEGER;
	// What is too large on the way may be exact in the end.
	const sums = [[0.1, 0.2], [123_456_789_012.34, 0.01], [maxSafe, 2, -5], [maxSafe, 2], [-maxSafe, -0.25]];
	const exact = [0.3, 123_456_789_012.35, maxSafe - 3, '9007199254740993', '-9007199254740991.25'];
	for (const [i, numbers] of sums.entries()) expect((await figures(...numbers)).sum_probability).toBe(exact[i]);
	await expect(figures('0x1F')).rejects.toThrow('Probability has no numbers to add up');
});

test('the form offers times by period, and numbers to add up', async () => {
	const opened = { credential: sandbox.credential, parameters: count({}), items: [] };
	const groupFields = await picker(getGroupFields, opened as never);
	expect(groupFields.find(({ value }) => value === 'created_at:month')?.name).toMatch(/\(by Month\)$/);
	expect((await picker(getSumFields, opened as never)).map(({ value }) => value)).toEqual(expect.arrayContaining(['amount', 'probability']));
});
