import { useSandbox } from '../support/sandbox.ts';
import { syncIn, teamsIn } from '../support/sync-node.ts';

const sandbox = useSandbox();
const { add, counts, listed, newTeam, run, writes } = teamsIn(sandbox);

test('new records are created, different ones are updated, others are left, each linked to its item', async () => {
	const { team, records } = newTeam(3);
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

test('a value in the notation of the source is the same for the CRM, so a second run writes nothing', async () => {
	const { records } = newTeam(1, { last_contacted_at: undefined });
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

test.each([
	['some', 1],
	['none', 20],
])('a preview shows every item that cannot be read (%s can), and deletes no more than a run that continues', async (_, first) => {
	const { records, filters } = newTeam(20);
	await add(records);
	await sandbox.clear();
	const unknown = records.slice(0, 3).map((record) => ({ ...record, company_id: 'Nobody Inc' }));
	const items = [...unknown, { last_name: 'No Key' }, ...records.slice(3 + first)];
	const choices = { filters, missingInSource: 'delete', maxDeletionsShare: 100 };

	const preview = await run(items, { ...choices, preview: true });
	expect(preview.deleted).toEqual([]);
	const reasons = preview.conflict.filter(({ json }) => json.error).map(({ json, pairedItem }) => [pairedItem, json.error]);
	expect(reasons).toEqual([
		...[0, 1, 2].map((item) => [{ item }, expect.stringContaining('Nobody Inc')]),
		[{ item: 3 }, expect.stringContaining('field to match on')],
	]);
	expect(preview.hints).toContainEqual(expect.stringContaining(`4 of ${items.length} items could not be read`));
	expect(preview.hints).toContainEqual(expect.stringContaining('because 4 items have no key or could not be read'));

	const stopped = run(items, choices);
	await expect(stopped).rejects.toMatchObject({
		message: expect.stringContaining('Nobody Inc'), description: expect.stringContaining('run with Preview on'),
	});
	expect(await writes()).toEqual([]);
	const continued = await run(items, choices, { continueOnFail: true });
	expect(counts(continued)).toEqual(counts(preview));
	expect(await writes()).toEqual([]);
});

test('a preview says which values the CRM would refuse, as the run finds', async () => {
	const { records } = newTeam(3, { language: 'en' });
	await add(records.slice(1));
	const changes = [{ email: 'no address' }, { first_name: 'x'.repeat(5000) }, { last_name: 'Fine' }];
	const items = records.map((record, i) => ({ ...record, ...changes[i] }));
	const preview = await run(items, { preview: true });
	expect(counts(preview)).toEqual([0, 1, 0, 0, 2]);
	expect(preview.conflict.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
	const reasons = preview.conflict.map((item) => syncIn(item).reason);
	expect(reasons).toEqual([expect.stringContaining('“no address” is not'), expect.stringContaining('the text is too long')]);
	const done = await run(items, {}, { continueOnFail: true });
	expect(counts(done)).toEqual(counts(preview));
});

test('a field to match on that is not unique is refused', async () => {
	await expect(run([{ last_name: 'A' }], { matchOn: 'last_name' })).rejects.toThrow('unique');
});

test('ten records are found with a few requests, however many records exist', async () => {
	const { records } = newTeam(600);
	for (let i = 0; i < 600; i += 100) await add(records.slice(i, i + 100));
	await sandbox.clear();
	await run(records.slice(0, 10).map((record) => ({ ...record, last_name: 'Other' })), { matchOn: 'email' });
	const requests = (await sandbox.requests()).filter(({ path }) => path.startsWith('/v1/contacts'));
	expect(requests.map(({ method }) => method)).toEqual(['GET', 'POST']);
});

test('if the CRM cannot be read, no item is returned as created on continue on fail', async () => {
	const { records } = newTeam(2);
	await sandbox.faults({ path: '/v1/contacts', status: 403 });
	const result = await run(records, {}, { continueOnFail: true });
	await sandbox.clear();
	expect(counts(result)).toEqual([0, 0, 0, 0, 2]);
	expect(result.conflict.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
	expect(result.conflict[0]!.json.error).toEqual(expect.any(String));
});
