import type { IDataObject } from 'n8n-workflow';

import { useSandbox } from './sandbox.ts';
import { runSync, scopeOf, syncIn, syncOf } from './syncNode.ts';

const sandbox = useSandbox();
const run = async (items: IDataObject[], more: IDataObject = {}, setup = {}) =>
	await runSync({ credential: sandbox.credential, parameters: syncOf('contact', more), items, ...setup });
const counts = ({ created, updated, unchanged, deleted, conflict }: Awaited<ReturnType<typeof run>>) =>
	[created, updated, unchanged, deleted, conflict].map(({ length }) => length);

let names = 0;
/** Records of their own for a test, told from others by their job title. */
const own = (count: number, more: IDataObject = {}) => {
	const team = `team-${++names}`;
	const records = Array.from({ length: count }, (_, i) => ({
		external_id: `${team}-${i}`,
		email: `${team}-${i}@source.example`,
		last_name: `Name ${i}`,
		job_title: team,
		...more,
	}));
	return { team, records, scope: scopeOf({ job_title: team }) };
};
const add = async (records: IDataObject[]) => {
	const { body } = await sandbox.call('POST', '/v1/contacts/batch/create', { items: records });
	return (body.results as Array<{ data: IDataObject }>).map(({ data }) => data);
};
const listed = async (team: string) =>
	(await sandbox.call('GET', `/v1/contacts?job_title=${team}&limit=500`)).body.data as IDataObject[];
const writes = async () => (await sandbox.requests()).filter(({ method }) => method !== 'GET');
const change = async (id: unknown, body: IDataObject) =>
	(await sandbox.call('PATCH', `/v1/contacts/${String(id)}`, body)).body;

test('new records are created, those that differ are updated, others are left, each linked to its item', async () => {
	const { team, records } = own(3);
	await add(records.slice(0, 2));
	await sandbox.clear();
	const { created, updated, unchanged, deleted, conflict } = await run([
		{ ...records[0]! },
		{ ...records[1]!, last_name: 'Other' },
		{ ...records[2]! },
	]);
	expect([deleted, conflict]).toEqual([[], []]);
	expect(unchanged.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }]);
	expect(updated.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 1 }]);
	expect(created.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 2 }]);
	expect(syncIn(updated[0]!)).toEqual({
		action: 'update',
		changes: [{ field: 'last_name', from: 'Name 1', to: 'Other' }],
		reason: null,
	});
	expect(created[0]!.json).toMatchObject({ id: expect.stringMatching(/^con_/), version: 1 });
	expect((await listed(team)).map(({ last_name: name }) => name).sort()).toEqual(['Name 0', 'Name 2', 'Other']);
});

test('only the values that differ are sent, under the version that was read', async () => {
	const { records } = own(2);
	const [record] = await add(records);
	const events = async () => (await sandbox.call('GET', '/v1/events?limit=500')).body.data as IDataObject[];
	await run([{ ...records[0]!, last_name: 'Other' }]);
	const last = (await events()).at(-1) as { data: { changed: string[] } };
	expect(last.data.changed).toEqual(expect.arrayContaining(['last_name']));
	expect(last.data.changed).not.toContain('email');
	expect((await sandbox.call('GET', `/v1/contacts/${String(record!.id)}`)).body.version).toBe(2);
});

test('a value in the notation of the source is the same for the CRM, so a second run writes nothing', async () => {
	const { records } = own(1, { last_contacted_at: undefined });
	const item = {
		...records[0]!,
		email: undefined,
		emails: [{ value: 'ADA.Lovelace@Example.COM', primary: true }, { value: 'ada@Example.com', label: 'Home' }],
		address: { city: 'Lyon', country: '' },
	};
	const first = await run([item]);
	expect(counts(first)).toEqual([1, 0, 0, 0, 0]);
	await sandbox.clear();
	const second = await run([item]);
	expect(second.updated.map(syncIn)).toEqual([]);
	expect(counts(second)).toEqual([0, 0, 1, 0, 0]);
	expect(await writes()).toEqual([]);
});

test('a preview writes nothing and shows what the run then does', async () => {
	const { records, scope } = own(30);
	await add(records.slice(0, 28));
	await sandbox.clear();
	const items = records.slice(1).map((record, i) => (i < 5 ? { ...record, last_name: 'New' } : record));
	const choices = { scope, missingInSource: 'delete' };
	const preview = await run(items, { ...choices, preview: true });
	expect(await writes()).toEqual([]);
	expect(preview.hints).toContainEqual(expect.stringContaining('Preview'));
	const done = await run(items, choices);
	expect(counts(preview)).toEqual([2, 5, 22, 1, 0]);
	expect(counts(done)).toEqual(counts(preview));
	for (const name of ['updated', 'unchanged', 'deleted'] as const) {
		expect(done[name].map(syncIn)).toEqual(preview[name].map(syncIn));
	}
});

describe('records that the source does not have', () => {
	test('are left alone unless the user asks for more', async () => {
		const { team, records, scope } = own(3);
		await add(records);
		expect(counts(await run(records.slice(1), { scope }))).toEqual([0, 0, 2, 0, 0]);
		expect(await listed(team)).toHaveLength(3);
	});

	test('get the values of the user’s choice, once', async () => {
		const { team, records, scope } = own(20);
		await add(records);
		const choices = {
			scope,
			missingInSource: 'set',
			missingValues: { mappingMode: 'defineBelow', value: { lifecycle_stage: 'other' } },
		};
		const first = await run(records.slice(1), choices);
		expect(counts(first)).toEqual([0, 1, 19, 0, 0]);
		const [gone] = (await listed(team)).filter(({ external_id: id }) => id === records[0]!.external_id);
		expect(gone).toMatchObject({ lifecycle_stage: 'other' });
		await sandbox.clear();
		expect(counts(await run(records.slice(1), choices))).toEqual([0, 0, 20, 0, 0]);
		expect(await writes()).toEqual([]);
	});

	test.each([
		['the source is empty', (): IDataObject[] => [{}], {}],
		['they are more than the share allows', (records: IDataObject[]) => records.slice(2), {}],
		['they are more than the number allows', (records: IDataObject[]) => records.slice(2), { mostDeletionsShare: 100, mostDeletions: 1 }],
		['an item has no key', (records: IDataObject[]) => [...records.slice(2), { last_name: 'Who' }], { mostDeletionsShare: 100 }],
	])('are all left, and reported as conflicts, if %s', async (_, source, limits) => {
		const { team, records, scope } = own(10);
		await add(records);
		await sandbox.clear();
		const items = source(records);
		const { conflict, deleted, hints } = await run(
			items,
			{ scope, missingInSource: 'delete', ...limits },
			{ continueOnFail: true },
		);
		expect(deleted).toEqual([]);
		expect(conflict.filter(({ json }) => json.sync)).toHaveLength(items.length === 1 ? 10 : 2);
		expect(hints).toContainEqual(expect.stringContaining('not in the source'));
		expect(await listed(team)).toHaveLength(10);
		expect(await writes()).toEqual([]);
	});

	test.each([{ status: 500 }, { status: 429 }, { malformed: true }])(
		'are left where the CRM cannot be read to its end (%j)',
		async (fault) => {
			const { team, records, scope } = own(4);
			await add(records);
			await sandbox.faults({ path: '/v1/contacts', method: 'GET', ...fault });
			const choices = { scope, missingInSource: 'delete', options: { longestWait: 0 } };
			await expect(run(records.slice(1), choices)).rejects.toThrow();
			await sandbox.clear();
			expect(await listed(team)).toHaveLength(4);
		},
	);

	test('are left where the service gives fewer records than it counts', async () => {
		const { team, records, scope } = own(20);
		const stored = await add(records);
		const page = { data: stored.slice(0, 15), next_cursor: null, total: 20 };
		await sandbox.faults({
			path: '/v1/contacts',
			method: 'GET',
			status: 200,
			body: JSON.stringify(page),
			contentType: 'application/json',
		});
		const { conflict, hints } = await run(records.slice(1), { scope, missingInSource: 'delete' });
		await sandbox.clear();
		expect(hints).toContainEqual(expect.stringContaining('only 15 of the 20'));
		expect(conflict.length).toBeGreaterThan(0);
		expect(await listed(team)).toHaveLength(20);
	});
});

describe('nothing is guessed', () => {
	test('two items with one key are conflicts, and their record is not missing', async () => {
		const { team, records, scope } = own(2);
		await add(records);
		const twice = [records[0]!, { ...records[0]!, last_name: 'Twin' }, records[1]!];
		const { conflict, unchanged } = await run(twice, { scope, missingInSource: 'delete', mostDeletionsShare: 100 });
		expect(conflict.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
		expect(syncIn(conflict[0]!).reason).toContain('several items (0, 1)');
		expect(unchanged).toHaveLength(1);
		expect(await listed(team)).toHaveLength(2);
	});

	test('a record outside the scope is not touched, and not created twice', async () => {
		const { records } = own(1);
		const [stored] = await add(records);
		const { scope } = own(0);
		await sandbox.clear();
		for (const preview of [true, false]) {
			const { conflict } = await run([{ ...records[0]!, last_name: 'Other' }], { scope, preview });
			expect(syncIn(conflict[0]!).reason).toContain(String(stored!.id));
		}
		expect(await writes()).toEqual([]);
	});

	test('a unique value that another record has is a conflict, in the preview as in the run', async () => {
		const { records } = own(2);
		await add(records);
		await sandbox.clear();
		for (const preview of [true, false]) {
			const { conflict } = await run([{ ...records[0]!, email: records[1]!.email! }], { preview });
			expect(syncIn(conflict[0]!).reason).toContain('Email');
		}
		expect(await writes()).toEqual([]);
	});

	test('the second field finds what the first does not, and only that', async () => {
		const { records } = own(2);
		const [, second] = await add([records[0]!, { ...records[1]!, external_id: null }]);
		const { updated, unchanged } = await run(records, { alsoMatchOn: 'email' });
		expect(unchanged.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }]);
		expect(updated[0]!.json).toMatchObject({ id: second!.id, external_id: records[1]!.external_id });
	});

	test('a field to match on that is not unique is refused', async () => {
		await expect(run([{ last_name: 'A' }], { matchOn: 'last_name' })).rejects.toThrow('unique');
	});
});

describe('a record that the CRM has changed since the source saw it', () => {
	const choices = (bothChanged: string) => ({ versionField: 'seen', bothChanged, changedAtField: 'at' });
	const changed = async () => {
		const { records } = own(1);
		const [stored] = await add(records);
		await change(stored!.id, { last_name: 'By the CRM' });
		return { id: stored!.id, item: { ...records[0]!, last_name: 'By the source', seen: 1 } };
	};
	const nameOf = async (id: unknown) =>
		(await sandbox.call('GET', `/v1/contacts/${String(id)}`)).body.last_name;
	const both = [{ field: 'last_name', from: 'By the CRM', to: 'By the source' }];

	test.each([
		['conflict', {}, 'conflict', 'By the CRM'],
		['crm', {}, 'unchanged', 'By the CRM'],
		['source', {}, 'updated', 'By the source'],
		['latest', { at: '2999-01-01T00:00:00Z' }, 'updated', 'By the source'],
		['latest', { at: '2001-01-01T00:00:00Z' }, 'unchanged', 'By the CRM'],
		['latest', {}, 'conflict', 'By the CRM'],
	] as const)('goes by the rule %s %j', async (rule, time, output, name) => {
		const { id, item } = await changed();
		const result = await run([{ ...item, ...time }], choices(rule));
		expect(syncIn(result[output][0]!)).toMatchObject({ changes: both, reason: expect.stringContaining('version 1, now 2') });
		expect(await nameOf(id)).toBe(name);
	});

	test('is updated where the source has seen that change', async () => {
		const { id, item } = await changed();
		expect(counts(await run([{ ...item, seen: '2' }], choices('conflict')))).toEqual([0, 1, 0, 0, 0]);
		expect(await nameOf(id)).toBe('By the source');
	});

	test('and has deleted is not created again unless the source takes precedence', async () => {
		const { id, item } = await changed();
		await sandbox.call('DELETE', `/v1/contacts/${String(id)}`);
		expect(counts(await run([item], choices('conflict')))).toEqual([0, 0, 0, 0, 1]);
		expect(counts(await run([item], choices('source')))).toEqual([1, 0, 0, 0, 0]);
	});

	test('between the reading and the writing is a conflict, and not overwritten', async () => {
		const { records } = own(2);
		const [stored] = await add(records);
		// The answer to the reading is as old as one that was read just before the change.
		const page = { data: [stored, (await add(own(1).records))[0]], next_cursor: null, total: 2 };
		await change(stored!.id, { last_name: 'By the CRM' });
		await sandbox.faults({
			path: '/v1/contacts',
			method: 'GET',
			status: 200,
			body: JSON.stringify({ ...page, data: [stored], total: 1 }),
			contentType: 'application/json',
			times: 1,
		});
		const { conflict } = await run([{ ...records[0]!, last_name: 'By the source' }]);
		expect(syncIn(conflict[0]!).reason).toContain('after this run had read it');
		expect(await nameOf(stored!.id)).toBe('By the CRM');
	});
});

test('ten records are found with a few requests, however many there are', async () => {
	const { records } = own(600);
	for (let i = 0; i < 600; i += 100) await add(records.slice(i, i + 100));
	await sandbox.clear();
	await run(records.slice(0, 10).map((record) => ({ ...record, last_name: 'Other' })), { matchOn: 'email' });
	const requests = (await sandbox.requests()).filter(({ path }) => path.startsWith('/v1/contacts'));
	expect(requests.map(({ method }) => method)).toEqual(['GET', 'POST']);
});

test('an item that cannot be read fails before anything is written, or alone on continue on fail', async () => {
	const { records } = own(2);
	const items = [records[0]!, { ...records[1]!, external_id: null, email: null }];
	await sandbox.clear();
	await expect(run(items)).rejects.toThrow('no value for');
	expect(await writes()).toEqual([]);
	const { created, conflict } = await run(items, {}, { continueOnFail: true });
	expect(created).toHaveLength(1);
	expect(conflict[0]).toMatchObject({ json: { error: expect.stringContaining('no value for') }, pairedItem: { item: 1 } });
});

test('a record that the service refuses fails, and the others are written on continue on fail', async () => {
	const { team, records } = own(2);
	const items = [{ ...records[0]!, phone: 'none' }, records[1]!];
	const { created, conflict } = await run(items, {}, { continueOnFail: true });
	expect([created.length, conflict.length]).toEqual([1, 1]);
	expect(await listed(team)).toHaveLength(1);
	await expect(run(items)).rejects.toThrow();
});
