import type { IDataObject } from 'n8n-workflow';

import { filterRows } from '../../support/parameters.ts';
import { syncIn } from '../../support/sync-node.ts';
import { useMirrors } from './mirror.ts';

/** Unusual services: filters without effect, keys in a different format, responses with other records. */
const contacts = useMirrors();
const same = (keys: string[]) => keys.map((key): IDataObject => ({ external_id: key, last_name: key }));
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `k${from + i}`);
const reasons = (items: Array<{ json: IDataObject }>) =>
	items.map((item) => (item.json.sync ? syncIn(item).reason : item.json.message)).join('\n');

describe('a service that ignores the filter of the scope', () => {
	const filters = filterRows({ team: 'in' });

	test.each([
		['found by their keys', 100], ['found in the whole list', 2],
	])('has no record written outside the scope (%s)', async (_, pageSize) => {
		const { run, names, service } = contacts(['a', 'b', 'c', 'd', 'e'], { ignoresTeam: true, pageSize });
		service.edit('con_2', { team: 'out' });
		const { updated, conflict } = await run(
			[{ external_id: 'a', last_name: 'new' }, { external_id: 'b', last_name: 'new' }], { missingInSource: 'leave', filters },
		);
		expect(updated).toHaveLength(1);
		expect(reasons(conflict)).toContain('which the filter excludes');
		expect(names()).toEqual(['new', 'b', 'c', 'd', 'e']);
	});

	test('has no record deleted, whatever the returned records lack', async () => {
		for (const team of ['out', 'IN', null, undefined]) {
			const { run, storedKeys, service } = contacts(['a', 'b'], { ignoresTeam: true });
			service.edit('con_2', { team });
			expect(reasons((await run(same(['a']), { filters })).conflict)).toContain('Nothing was written');
			expect(storedKeys()).toEqual(['a', 'b']);
		}
	});
});

test('records without a key do not let more be deleted', async () => {
	const { run, storedKeys, service } = contacts(numbers(0, 20));
	for (let i = 0; i < 200; i++) service.add({ last_name: `by hand ${i}` });
	const { deleted, hints } = await run(same(numbers(0, 10)), { maxDeletionsShare: 10 });
	expect(deleted).toEqual([]);
	expect(hints.join()).toContain('10 of 20 records in scope that have a key');
	expect(storedKeys().filter(Boolean)).toHaveLength(20);
});

test('a record that was deleted already and is still listed is not deleted again, and does not use up Maximum Deletions', async () => {
	const { run, service } = contacts(numbers(0, 30), { deactivates: true });
	const gone = () => [...service.records.values()].filter((record) => record.deleted_at !== undefined).length;
	for (const [left, isGone] of [[28, 2], [28, 2], [26, 4], [26, 4]] as const) {
		await run(same(numbers(0, left)), { maxDeletionsShare: 10 });
		expect(gone()).toBe(isGone);
	}
	expect(service.deletedAgain).toEqual([]);
});

const otherwiseTwo = [' 2.0', "'2", '#2', '02', '+2', '2,0', '\uff12', '2e0'];
test.each(otherwiseTwo)('an ID written as %j does not let its record be deleted', async (id) => {
	const { run, storedKeys, service } = contacts(['a', 'b', 'c']);
	for (const [place, record] of [...service.records.values()].entries()) {
		service.records.delete(record.id);
		service.records.set(String(place + 1), { ...record, id: String(place + 1) });
	}
	const items = [{ id: '1', last_name: 'a' }, { id, last_name: 'b' }, { id: '3', last_name: 'c' }];
	const { deleted, conflict } = await run(items, { matchOn: 'id' });
	expect(deleted).toEqual([]);
	expect(conflict).toHaveLength(2);
	expect(storedKeys()).toEqual(['a', 'b', 'c']);
});

test('a key in a different format does not let its record be deleted, unless that is another item’s', async () => {
	const { run, storedKeys } = contacts(['7', '8', 'K 1']);
	expect((await run(same(['7.0', '8', 'k-1']))).deleted).toEqual([]);
	expect(storedKeys()).toEqual(['7', '8', 'K 1', '7.0', 'k-1'].slice(0, 3));
	const other = contacts(['7', '07']);
	expect((await other.run(same(['07']))).deleted).toHaveLength(1);
	expect(other.storedKeys()).toEqual(['07']);
});

test('an update that is answered with another record is not reported under its ID', async () => {
	const { run, storedKeys } = contacts(['a', 'b', 'c'], { answersOther: true });
	const { updated, unchanged, deleted, conflict } = await run([{ external_id: 'a', last_name: 'new' }, ...same(['b'])]);
	expect([updated, deleted]).toEqual([[], []]);
	expect(unchanged.map(({ json }) => json.external_id)).toEqual(['b']);
	expect(conflict.map(({ json }) => json.external_id)).toEqual(['a', 'c']);
	expect(storedKeys()).toEqual(['a', 'b', 'c']);
});

test('a creation that is only accepted is not reported as done, and nothing is deleted', async () => {
	const { run, storedKeys } = contacts(['a', 'b'], {}, (handle) => (method, ...more) =>
		method === 'POST' ? { status: 202, body: { id: 'job_1', status: 'queued' } } : handle(method, ...more),
	);
	const { created, deleted, conflict } = await run(same(['a', 'n']));
	expect([created, deleted]).toEqual([[], []]);
	expect(conflict).toHaveLength(2);
	expect(storedKeys()).toEqual(['a', 'b']);
});

describe('a source that may be read in parts', () => {
	test.each([
		['in a later round', { runIndex: 1 }],
		['in a loop over items, already in its first round', { loop: 'n8n-nodes-base.splitInBatches' }],
		['in a sub-workflow', { mode: 'integrated' }],
		['in a sub-workflow that is retried', { mode: 'retry', parentExecutionId: 'e0' }],
	] as const)('deletes nothing %s, unless the user says that the input is complete', async (_, setup) => {
		const { run, storedKeys } = contacts(['a', 'b', 'c']);
		expect(reasons((await run(same(['a']), {}, setup)).conflict)).toContain('turn on Input Is Complete');
		expect(storedKeys()).toEqual(['a', 'b', 'c']);
		expect((await run(same(['a']), { missingInSource: 'leave' }, setup)).unchanged).toHaveLength(1);
		expect((await run(same(['a']), { completeInput: true }, setup)).deleted).toHaveLength(2);
	});

	test('is complete in a loop over anything else', async () => {
		const { run } = contacts(['a', 'b', 'c']);
		expect((await run(same(['a']), {}, { loop: 'n8n-nodes-base.wait' })).deleted).toHaveLength(2);
	});
});

describe('a field that no item has', () => {
	const both = { missingInSource: 'leave', versionField: 'seen', agreedField: 'synced', bothChanged: 'source' };
	test('is treated as a typing mistake if the items have the other of the two fields', async () => {
		const { run, names, service } = contacts(['a']);
		service.edit('con_1', { last_name: 'edit of the CRM' });
		const item = { external_id: 'a', last_name: 'a', phone: '2', seen: 1, synced: { last_name: 'a' } };
		for (const typo of [{ agreedField: 'Synced' }, { versionField: 'sen' }]) {
			expect(reasons((await run([item], { ...both, ...typo })).conflict)).toContain('Nothing was written');
		}
		expect(names()).toEqual(['edit of the CRM']);
	});

	test('is reported in a hint if the items have neither', async () => {
		const { run } = contacts(['a']);
		expect((await run(same(['a']), both)).hints.join()).toContain('no item has the field “synced”');
	});
});
