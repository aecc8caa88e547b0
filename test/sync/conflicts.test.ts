import { useSandbox } from '../support/sandbox.ts';
import { syncIn, teamsIn } from '../support/sync-node.ts';

const sandbox = useSandbox();
const { add, change, counts, newTeam, run } = teamsIn(sandbox);

describe('a record that the CRM has changed since the source saw it', () => {
	const choices = (bothChanged: string) => ({ versionField: 'seen', bothChanged, changedAtField: 'at' });
	const changed = async () => {
		const { records } = newTeam(1);
		const [stored] = await add(records);
		await change(stored!.id, { last_name: 'By the CRM' });
		return { id: stored!.id, item: { ...records[0]!, last_name: 'By the source', seen: 1 } };
	};
	const nameOf = async (id: unknown) => (await sandbox.read(`contacts/${String(id)}`)).last_name;
	const both = [{ field: 'last_name', from: 'By the CRM', to: 'By the source' }];

	test.each([
		['conflict', {}, 'conflict', 'By the CRM'],
		['source', {}, 'updated', 'By the source'],
		['latest', { at: '2999-01-01T00:00:00Z' }, 'updated', 'By the source'],
		['latest', { at: '2001-01-01T00:00:00Z' }, 'unchanged', 'By the CRM'],
	] as const)('goes by the rule %s %j', async (rule, time, output, name) => {
		const { id, item } = await changed();
		const result = await run([{ ...item, ...time }], choices(rule));
		expect(syncIn(result[output][0]!)).toMatchObject({ changes: both, reason: expect.stringContaining('version 1, now 2') });
		expect(await nameOf(id)).toBe(name);
	});

	test('goes by the rule if the item’s version is empty, as the source has not seen it', async () => {
		const { id, item } = await changed();
		const { unchanged } = await run([{ ...item, seen: null }], choices('crm'));
		expect(syncIn(unchanged[0]!)).toMatchObject({ changes: both, reason: expect.stringContaining('not seen') });
		expect(await nameOf(id)).toBe('By the CRM');
	});

	test('is refused if the item’s version is a number that JavaScript rounds, which may be the current one by mistake', async () => {
		const { id, item } = await changed();
		await expect(run([{ ...item, seen: 2 ** 53 }], choices('source'))).rejects.toThrow('is not a version such as 3');
		expect(await nameOf(id)).toBe('By the CRM');
	});

	test.each([1, 3])('between the reading and the writing is a conflict, and not overwritten (of %d)', async (count) => {
		const { records } = newTeam(3);
		const stored = await add(records);
		const [first] = stored;
		await change(first!.id, { last_name: 'By the CRM' });
		// The answer to the reading is as old as one that was read just before the change.
		await sandbox.faults({
			path: '/v1/contacts',
			method: 'GET',
			times: 1,
			status: 200,
			body: JSON.stringify({ data: stored.slice(0, count), next_cursor: null, total: count }),
			contentType: 'application/json',
		});
		const result = await run(records.slice(0, count).map((record) => ({ ...record, last_name: 'By the source' })), { matchOn: 'email' });
		await sandbox.clear();
		expect(counts(result)).toEqual([0, count - 1, 0, 0, 1]);
		expect(syncIn(result.conflict[0]!)).toMatchObject({ reason: expect.stringContaining('after this run read it') });
		expect(await nameOf(first!.id)).toBe('By the CRM');
	});
});

const stored = async (id: unknown) => await sandbox.read(`contacts/${String(id)}`);

test('a record that belongs to another item is not deleted or set as missing, and the items around it are written', async () => {
	const { records, filters } = newTeam(3);
	const [theirs] = await add(records);
	const source = records.map((record, i) =>
		i === 0 ? { ...record, external_id: 'ours too', last_name: 'Ours' } : { ...record, first_name: 'New' },
	);
	const result = await run(source, { alsoMatchOn: 'email', filters, missingInSource: 'delete', maxDeletionsShare: 100 });
	expect(counts(result)).toEqual([0, 2, 0, 0, 1]);
	expect(await stored(theirs!.id)).toEqual(theirs);
});

test('Agreed Values under labels are refused: ignored, they would let the source overwrite an edit of the CRM', async () => {
	const { records } = newTeam(1);
	const [createdContact] = await add(records);
	await change(createdContact!.id, { last_name: 'Edited' });
	const item = { ...records[0]!, seen: 1, agreed: { 'Last Name': records[0]!.last_name } };
	await expect(run([item], { versionField: 'seen', agreedField: 'agreed', bothChanged: 'source' })).rejects.toThrow(
		/“Last Name” is a field/,
	);
	expect(await stored(createdContact!.id)).toMatchObject({ last_name: 'Edited' });
});
