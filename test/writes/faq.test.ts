import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { DateTime, Settings } from 'luxon';

import { nodeRuns } from '../support/node-runs.ts';
import { byId, create, getMany, mapped } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { output } = nodeRuns(sandbox);
const timezone = 'America/New_York';
const run = async (parameters: object) => await output(parameters, [{}], { timezone });

const page = readFileSync(resolve(__dirname, '../../docs/guide/questions.md'), 'utf8');
const expressions = [...page.matchAll(/^\| ([^|]+) \| (Is [^|]+) \| `([^`]+)` \| (?:`([^`]+)`)? ?\|$/gm)];
const operators: Record<string, string> = { 'Is Between': 'isBetweenDates', 'Is Before': 'isBefore', 'Is After': 'isAfter' };

// Also at the beginning and end of months, years and daylight saving time, so that no test fails on such a day.
describe.each([
	'2026-07-15T12:00', // A day like others.
	'2028-02-29T23:59', // The last minute of a month.
	'2026-03-09T00:00', // A Monday, after a day without one of its hours.
	'2026-12-31T21:00', // Next year, in the service's zone.
])('the expressions for dates find, at %s', (local) => {
	const now = DateTime.fromISO(local, { zone: timezone });
	// n8n's expressions ask luxon for the time.
	beforeAll(() => void (Settings.now = () => now.toMillis()));
	afterAll(() => void (Settings.now = () => Date.now()));
	const today = now.startOf('day');
	const lastMonth = now.minus({ months: 1 });
	const month = (at: DateTime) => [at.startOf('month'), at.endOf('month')] as const;
	/** The first and the last moment of each period. */
	const spans: Record<string, readonly [DateTime, DateTime]> = {
		'this month': month(now),
		'last month': month(lastMonth),
		'this week': [now.startOf('week'), now.endOf('week')],
		'the next 30 days': [today, today.plus({ days: 30 }).endOf('day')],
		overdue: [today.minus({ days: 40 }), today.minus({ milliseconds: 1 })],
		'the last 24 hours': [now.minus({ hours: 23, minutes: 50 }), now.plus({ days: 1 })],
	};

	test('the page has exactly these periods', () => {
		expect(expressions.map(([, period]) => period)).toEqual(Object.keys(spans));
	});

	test.each(expressions.map(([, ...row]) => row))('%s', async (period, operator, date, secondDate) => {
		const [first, last] = spans[period]!;
		const times = [first.minus({ days: 1 }), first, last, last.plus({ days: 1 })];
		const tasks: unknown[] = [];
		for (const at of times) {
			const task = await sandbox.create('tasks', { title: period, due_at: at.toUTC().toISO() });
			tasks.push(task.id);
		}
		const isDue = {
			field: 'due_at',
			operator: operators[operator],
			date: `=${date}`,
			...(secondDate && { secondDate: `=${secondDate}` }),
		};
		const rows = [isDue, { field: 'title', operator: 'is', value: period }];
		const found = (await run({ ...getMany('task'), filters: { rows } })).map(({ id }) => id);
		const isFound = [period === 'overdue', true, true, period === 'the last 24 hours'];
		expect(tasks.map((id) => found.includes(id as string))).toEqual(isFound);
	});

	test('whole days of a date, too', async () => {
		const [first, last] = spans['this month']!;
		const days = [first.minus({ days: 1 }), first, last, last.plus({ days: 1 })];
		for (const day of days) {
			await sandbox.create('deals', { title: `Days ${local}`, expected_close_date: day.toISODate() });
		}
		const [, , , date, secondDate] = expressions[0]!;
		const rows = [
			{ field: 'title', operator: 'is', value: `Days ${local}` },
			{ field: 'expected_close_date', operator: 'isBetweenDates', date: `=${date}`, secondDate: `=${secondDate}` },
		];
		const found = await run({ ...getMany('deal'), filters: { rows } });
		expect(found.map((deal) => deal['expected_close_date'])).toEqual([first.toISODate(), last.toISODate()]);
	});
});

test('deals won this week are found by their status and the day on which they were closed', async () => {
	const deal = await sandbox.create('deals', { title: 'Won just now' });
	await sandbox.call('POST', `/v1/deals/${deal.id}/win`);
	const [, , , date, secondDate] = expressions.find(([, period]) => period === 'this week')!;
	const rows = [
		{ field: 'status', operator: 'is', value: 'Won' },
		{ field: 'closed_at', operator: 'isBetweenDates', date: `=${date}`, secondDate: `=${secondDate}` },
	];
	const found = await run({ ...getMany('deal'), filters: { rows } });
	expect(found.map(({ id }) => id)).toContain(deal.id);
	const monday = DateTime.now().setZone(timezone).startOf('week').toMillis();
	expect(found.filter((won) => won.status !== 'won' || Date.parse(String(won.closed_at)) < monday)).toEqual([]);
});

test('a custom object is defined, given a field, and has a record', async () => {
	const object = { key: 'cars', label_singular: 'Car', label_plural: 'Cars', primary_field: 'name' };
	await run(create('customObject', object));
	await run(create('customField', { resource: 'custom-objects/cars/records', key: 'name', label: 'Name', type: 'text' }));
	const record = { ...create('customObjectRecord', {}), fields: mapped({ 'custom_fields.name': 'M-AB 1' }), objectKey: byId('cars') };
	expect(await run(record)).toMatchObject([{ title: 'M-AB 1' }]);
});
