import type { IDataObject } from 'n8n-workflow';

import { alteredService, withoutVersions } from '../support/altered-service.ts';
import { useSandbox } from '../support/sandbox.ts';
import { syncIn, type SyncRun, teamsIn } from '../support/sync-node.ts';

const sandbox = useSandbox({ contacts: 0 });
const service = alteredService(sandbox, true);
const { add, listed, newTeam, run, writes } = teamsIn(service);
const everything = { missingInSource: 'delete', maxDeletionsShare: 100 };
const [sync, loop] = ['CRM Platform', 'splitInBatches'] as const;
const onErrors = { continueOnFail: true };
const reasons = ({ conflict }: SyncRun) => conflict.map((item) => (item.json.sync ? syncIn(item).reason : item.json.message)).join('\n');

describe('a source that may be read in parts', () => {
	test.each([
		['in a later round', { runIndex: 1 }],
		['in a loop over items, already in its first round', { flow: { [loop]: [sync], [sync]: [loop] } }],
		['in any other loop, already in its first round', { flow: { read: [sync], [sync]: ['if'], if: ['read'] } }],
		['after two branches', { flow: { if: ['set', 'code'], set: [sync], code: [sync] } }],
		['after a branch and its beginning', { flow: { if: ['set', sync], set: [sync] } }],
		['after a node after two branches', { flow: { if: ['set', 'code'], set: ['filter'], code: ['filter'], filter: [sync] } }],
		['in a sub-workflow', { mode: 'integrated' }],
		['in a sub-workflow that is retried', { mode: 'retry', parentExecutionId: 'e0' }],
	] as const)('deletes nothing %s, unless the user says that the input is complete', async (_, setup) => {
		const { team, records, filters } = newTeam(3);
		await add(records);
		const source = records.slice(0, 1);
		expect(reasons(await run(source, { filters, ...everything }, { ...setup, ...onErrors }))).toContain('turn on Input Is Complete');
		expect(await listed(team)).toHaveLength(3);
		expect((await run(source, { filters }, setup)).unchanged).toHaveLength(1);
		expect((await run(source, { filters, ...everything, completeInput: true }, setup)).deleted).toHaveLength(2);
	});

	test.each([
		['branches that a Merge node joins', { if: ['set', 'code'], set: ['merge'], code: ['merge'], merge: [sync] }],
		['two triggers', { webhook: ['set'], cron: [sync], set: [sync] }],
		['a loop with branches', { read: [loop], [loop]: ['if', sync], if: ['set', 'code'], set: ['code'], code: [loop] }],
	])('is complete after %s', async (_, flow) => {
		const { records, filters } = newTeam(3);
		await add(records);
		expect((await run(records.slice(0, 1), { filters, ...everything }, { flow })).deleted).toHaveLength(2);
	});
});

describe('a field that no item has', () => {
	const both = { versionField: 'seen', agreedField: 'synced', bothChanged: 'source' };

	test('is treated as a typing mistake if the items have the other of the two fields', async () => {
		const { team, records } = newTeam(1);
		await add([{ ...records[0]!, last_name: 'edit of the CRM' }]);
		const item = { ...records[0]!, seen: 1, synced: { last_name: 'a' } };
		for (const typo of [{ agreedField: 'Synced' }, { versionField: 'sen' }]) {
			expect(reasons(await run([item], { ...both, ...typo }, onErrors))).toContain('Nothing was written');
		}
		expect(await listed(team)).toMatchObject([{ last_name: 'edit of the CRM' }]);
	});

	test('is reported in a hint if the items have neither', async () => {
		const { records } = newTeam(1);
		expect((await run(records, both)).hints.join()).toContain('no item has the field “synced”');
	});
});

const noKeys = ['1,00045E+11', NaN, Infinity, true, false, '[object Object]', '\u200b', '\u2060 '];
test.each(noKeys)('%j is not a key: the item is refused, and nothing is deleted', async (external_id) => {
	const { team, records, filters } = newTeam(2);
	await add(records);
	const { email: _, ...other } = records[1]!;
	const outcome = await run([records[0]!, { ...other, external_id }], { filters, ...everything }, onErrors);
	expect([outcome.created, outcome.deleted]).toEqual([[], []]);
	expect(JSON.stringify(outcome.conflict)).toMatch(/There is no value for|identifies no record|failed calculation|broken formula/);
	expect(await listed(team)).toHaveLength(2);
});

test('records without a key do not let more be deleted', async () => {
	const { records, filters } = newTeam(20);
	const { external_id: _, email: _e, ...byHand } = records[0]!;
	await add([...records, ...Array.from({ length: 80 }, () => byHand)]);
	const { deleted, hints } = await run(records.slice(0, 10), { filters, ...everything, maxDeletionsShare: 10 }, onErrors);
	expect(deleted).toEqual([]);
	expect(hints.join()).toContain('10 of 20 records in scope that have a key');
});

test('if a service ignores the filter of the scope, nothing is written', async () => {
	const { records, filters } = newTeam(1);
	await add([...records, ...newTeam(1).records]);
	await sandbox.clear();
	service.alter({ request: ({ url }) => void url.searchParams.delete('job_title') });
	const outcome = await run([{ ...records[0]!, last_name: 'New' }], { filters, ...everything }, onErrors);
	expect(reasons(outcome)).toContain('which the filter excludes');
	expect(await writes()).toEqual([]);
});

test.each<[number, (stored: IDataObject) => unknown, string]>([
	[202, () => ({}), 'no record came back'],
	[201, () => ({ message: 'Queued for review' }), 'no record came back'],
	[201, (stored) => stored, 'returned record con_'],
])('a creation answered %i with another body than its record is uncertain: nothing is deleted (%#)', async (status, body, reason) => {
	const { team, records, filters } = newTeam(2);
	const stored = await add(records);
	service.alter({ request: ({ method }) => (method === 'POST' ? { status, body: JSON.stringify(body(stored[1]!)) } : undefined) });
	const { email: _, ...renamed } = records[1]!;
	const outcome = await run([records[0]!, { ...renamed, external_id: `${team}-new` }], { filters, ...everything }, onErrors);
	expect([outcome.created, outcome.deleted]).toEqual([[], []]);
	expect(reasons(outcome)).toContain(reason);
	expect(await listed(team)).toHaveLength(2);
});

test('the node warns if nothing protects an edit', async () => {
	service.alter({ answer: (text) => (text === '' ? text : withoutVersions(text)) });
	const { records } = newTeam(1);
	await add(records);
	expect((await run([{ ...records[0]!, last_name: 'New' }])).hints.join()).toContain('can be overwritten');
});
