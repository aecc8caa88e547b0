import { useSandbox } from './sandbox.ts';
import { syncIn, teamsIn } from './syncNode.ts';

const sandbox = useSandbox();
const { add, change, counts, own, run } = teamsIn(sandbox);

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
