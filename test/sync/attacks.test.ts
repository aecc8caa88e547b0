import type { IDataObject } from 'n8n-workflow';

import { useSandbox } from '../support/sandbox.ts';
import { syncIn, teamsIn } from '../support/sync-node.ts';

const sandbox = useSandbox();
const { add, change, counts, listed, newTeam, run, writes } = teamsIn(sandbox);
const everything = { missingInSource: 'delete', maxDeletionsShare: 100 };
const recordOf = async (id: unknown) => await sandbox.call('GET', `/v1/contacts/${String(id)}`);

describe('a record that an item may belong to is not deleted as missing', () => {
	test.each([
		['whose key was changed', (record: IDataObject) => record],
		['whose address is in a list', ({ email, ...more }: IDataObject) => ({ ...more, emails: [{ value: 'x@x.example' }, { value: email }] })],
	])('%s', async (_, changed) => {
		const { team, records, filters } = newTeam(4);
		await add(records);
		const items = [...records.slice(1), { ...changed(records[0]!), external_id: `${records[0]!.external_id}-new` }];
		for (const preview of [true, false]) {
			const { deleted, conflict } = await run(items, { filters, ...everything, preview });
			expect(deleted).toEqual([]);
			expect(conflict.map((item) => syncIn(item).reason)).toContainEqual(expect.stringContaining('may be that record'));
		}
		expect(await listed(team)).toEqual(expect.arrayContaining([expect.objectContaining({ external_id: records[0]!.external_id })]));
	});

	test('if two items share a key by mistake, and one has the address of another record', async () => {
		const { team, records, filters } = newTeam(3);
		await add(records);
		const twin = { ...records[1]!, external_id: records[0]!.external_id };
		const { deleted } = await run([records[0]!, twin, records[2]!], { filters, ...everything });
		expect(deleted).toEqual([]);
		expect(await listed(team)).toHaveLength(3);
	});

	test('if the CRM refuses an item', async () => {
		const { team, records, filters } = newTeam(3);
		await add(records);
		const error = { code: 'duplicate', detail: 'Taken' };
		const fresh = { external_id: `${team}-fresh`, email: `${team}-fresh@source.example`, last_name: 'New', job_title: team };
		await sandbox.faults({ path: '/v1/contacts', method: 'POST', status: 409, body: error });
		const { deleted, conflict } = await run([...records.slice(1), fresh], { filters, ...everything });
		expect(deleted).toEqual([]);
		expect(conflict.map((item) => syncIn(item).reason)).toContainEqual(expect.stringContaining('was left unchanged.'));
		expect(await listed(team)).toHaveLength(3);
	});
});

test('a write whose earlier attempt is still running stops the sync: it is no conflict', async () => {
	const { team, records, filters } = newTeam(1);
	const running = { status: 409, headers: { 'retry-after': '3600' }, body: { code: 'idempotency_in_progress', detail: 'Running' } };
	await sandbox.faults({ path: '/v1/contacts', method: 'POST', ...running });
	await expect(run(records, { filters, ...everything })).rejects.toThrow();
	expect(await listed(team)).toEqual([]);
});

test.each([
	['a list has another record’s address in second place', { emails: [{ value: 'q@source.example', primary: true }, { value: 'second' }] }],
	['an address is in second place of another record’s list', { email: 'second' }],
])('an item of which %s is not created beside that record, which is not deleted', async (_, values) => {
	const { team, records, filters } = newTeam(1);
	const second = `${team}-second@source.example`;
	const { email, ...record } = records[0]!;
	await add([{ ...record, emails: [{ value: email, primary: true }, { value: second }] }]);
	const texts = JSON.stringify(values).replace('"second"', JSON.stringify(second)).replace('q@', `${team}-q@`);
	const item = { external_id: `${team}-new`, last_name: 'New', job_title: team, ...(JSON.parse(texts) as IDataObject) };
	expect(counts(await run([item], { filters, ...everything }))).toEqual([0, 0, 0, 0, 2]);
	expect(await listed(team)).toHaveLength(1);
});

describe('matched on ID, with Source Takes Precedence', () => {
	const rules = { matchOn: 'id', versionField: 'seen', bothChanged: 'source' };

	test('a record that has only left the scope is not created a second time', async () => {
		const { team, records, filters } = newTeam(1);
		const [stored] = await add(records);
		await change(stored!.id, { job_title: `${team}-other`, external_id: null, email: null });
		const { conflict, created } = await run([{ ...records[0]!, id: stored!.id, seen: 1 }], { ...rules, alsoMatchOn: 'email', filters });
		expect(created).toEqual([]);
		expect(syncIn(conflict[0]!).reason).toContain('outside Records in Scope');
	});

	test('a deleted record is not created in every run: on ID alone not at all, with a second field once', async () => {
		const { records } = newTeam(1);
		const [stored] = await add(records);
		await sandbox.call('DELETE', `/v1/contacts/${String(stored!.id)}`);
		const item = { last_name: 'Again', id: stored!.id, seen: 1 };
		expect(syncIn((await run([item], rules)).conflict[0]!).reason).toContain('Then Match On');
		const withMail = { ...item, email: records[0]!.email };
		expect(counts(await run([withMail], { ...rules, alsoMatchOn: 'email' }))).toEqual([1, 0, 0, 0, 0]);
		expect(counts(await run([withMail], { ...rules, alsoMatchOn: 'email' }))).toEqual([0, 0, 1, 0, 0]);
	});
});

describe('a choice that is not understood is refused, and nothing is written', () => {
	test.each([
		['preview', null, 'Preview'],
		['missingInSource', 'remove', 'When Missing in the Source'],
		['maxDeletions', 'many', 'Maximum Deletions'],
		['maxDeletionsShare', 'half', 'Maximum Deletions (%)'],
		['differing', 'overwrite', 'When Values Differ'],
		['missingInCrm', 'maybe', 'When Missing in the CRM'],
	])('%s: %j', async (name, value, label) => {
		const { team, records, filters } = newTeam(10);
		await add(records);
		await sandbox.clear();
		await expect(run(records.slice(9), { filters, ...everything, [name]: value })).rejects.toThrow(label);
		expect(await writes()).toEqual([]);
		expect(await listed(team)).toHaveLength(10);
	});
});

describe('with the values that both sides agreed on last', () => {
	const rules = { versionField: 'seen', agreedField: 'synced', changedAtField: 'at' };
	const edited = async (byCrm: IDataObject) => {
		const { records } = newTeam(1, { phone: '+4930123456' });
		const [stored] = await add(records);
		await change(stored!.id, byCrm);
		const synced = JSON.stringify({ last_name: 'Name 0', phone: '+4930123456' });
		return { id: stored!.id, item: { ...records[0]!, seen: 1, synced, at: '2001-01-01T00:00:00Z' } };
	};

	test.each(['conflict', 'latest'])('edits of different fields are merged, whatever the rule (%s)', async (bothChanged) => {
		const { id, item } = await edited({ phone: '+34915550142' });
		const { updated, hints } = await run([{ ...item, last_name: 'By the source' }], { ...rules, bothChanged });
		expect((await recordOf(id)).body).toMatchObject({ last_name: 'By the source', phone: '+34915550142' });
		expect(updated[0]!.json).toMatchObject({ last_name: 'By the source', phone: '+34915550142' });
		expect(syncIn(updated[0]!).changes).toContainEqual(expect.objectContaining({ field: 'phone', kept: true }));
		// The version, the agreed values and the time (if the rule uses it) are not fields of the record, and need no hint.
		expect(hints.join()).not.toMatch(bothChanged === 'latest' ? /no such field/ : /seen|synced/);
	});

	test.each<[IDataObject, string, string]>([
		[{ synced: '["Name 0"]' }, 'source', 'synced'],
		// Ignored, values under labels would let the source overwrite an edit of the CRM.
		[{ synced: { 'Last Name': 'Name 0' } }, 'source', 'none of “Last Name” is a field'],
		[{ at: 'yesterday' }, 'latest', 'at: “yesterday”'],
		// JavaScript may have rounded it to the current version.
		[{ seen: 2 ** 53 }, 'source', 'is not a version such as 3'],
	])('unreadable values such as %j fail their item', async (values, bothChanged, message) => {
		const { item } = await edited({});
		await expect(run([{ ...item, ...values }], { ...rules, bothChanged })).rejects.toThrow(message);
	});
});

test('thousands of items with one address are conflicts within seconds of work', async () => {
	const { records } = newTeam(20_000);
	const items = records.map((record) => ({ ...record, email: records[0]!.email }));
	const before = process.cpuUsage();
	const { conflict } = await run(items, { preview: true });
	expect(conflict).toHaveLength(20_000);
	expect(process.cpuUsage(before).user).toBeLessThan(30_000_000);
});
