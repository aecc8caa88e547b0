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
		['conflict', {}, 'conflict', 'By the CRM', 'version 1, now 2'],
		['source', {}, 'updated', 'By the source', 'version 1, now 2'],
		['crm', { seen: null }, 'unchanged', 'By the CRM', 'not seen'],
		['latest', { at: '2999-01-01T00:00:00Z' }, 'updated', 'By the source', 'version 1, now 2'],
		['latest', { at: '2001-01-01T00:00:00Z' }, 'unchanged', 'By the CRM', 'version 1, now 2'],
	] as const)('goes by the rule %s %j', async (rule, more, output, name, reason) => {
		const { id, item } = await changed();
		const result = await run([{ ...item, ...more }], choices(rule));
		expect(syncIn(result[output][0]!)).toMatchObject({ changes: both, reason: expect.stringContaining(reason) });
		expect(await nameOf(id)).toBe(name);
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
