import type { IDataObject } from 'n8n-workflow';

import type { RecordChange } from '../../nodes/CrmPlatform/changes/apply';
import { fieldNamed } from '../../nodes/CrmPlatform/fields/field.ts';
import { guardDeletions, withTakenAsConflicts, type RecordCounts } from '../../nodes/CrmPlatform/sync/planChecks';
import type { SyncSettings } from '../../nodes/CrmPlatform/sync/settings';

const [email, code] = [fieldNamed('email'), fieldNamed('code')];
const record = (id: number) => ({ id: `con_${id}` });
const create = (item: number, patch: IDataObject, more: Partial<RecordChange> = {}): RecordChange =>
	({ action: 'create', item, patch, changes: [], ...more });

/** The changes that are refused, by their index. @param holders the ids of the records that have a value */
async function refused(planned: RecordChange[], holders: Record<string, string[]> = {}) {
	const holdersOf = async (values: Array<{ value: unknown }>) => values.map(({ value }) => holders[String(value)] ?? []);
	const result = await withTakenAsConflicts(planned, { holdersOf }, { unique: [email, code], recordList: {} as SyncSettings['recordList'] });
	expect(result).toHaveLength(planned.length);
	return result.map((change, i) => (change === planned[i] ? undefined : change));
}

test.each([
	['texts', ['a@x.example', 'b@x.example'], 'a@x.example'],
	['objects', [{ value: 'a@x.example' }, { value: 'b@x.example', primary: true }], 'b@x.example'],
	['objects without a main one', [{ value: 'a@x.example' }, { value: 'b@x.example' }], 'a@x.example'],
	['nothing', [], undefined],
])('the unique value in a list of %s is claimed, so that a preview shows who has it', async (_, emails, expected) => {
	const holders = Object.fromEntries(['a', 'b', 'main'].map((name) => [`${name}@x.example`, ['con_7']]));
	const [taken, main] = await refused([create(0, { emails }), create(1, { emails, email: 'main@x.example' })], holders);
	expect(taken?.reason).toEqual(expected && expect.stringContaining(`“${expected}”`));
	expect(main!.reason).toContain('“main@x.example”');
});

describe('a unique value', () => {
	const update = (item: number, patch: IDataObject): RecordChange => ({ action: 'update', item, record: record(1), patch, changes: [] });
	const conflict = (item: number, reason: string, more = {}) => ({ action: 'conflict', item, changes: [], reason, ...more });

	test('that another record has is not written', async () => {
		const message = (label: string, value: string) =>
			`${label}: record con_7 already has the value “${value}”. It may be outside Records in Scope.`;
		const planned = [create(0, { email: 'a@x.example' }), create(1, { code: 'A' }), update(2, { code: 'C' }), create(3, { email: 'A' })];
		expect(await refused(planned, { 'a@x.example': ['con_7'], C: ['con_1', 'con_7'] })).toEqual([
			conflict(0, message('email', 'a@x.example')), undefined, conflict(2, message('code', 'C'), { record: record(1) }), undefined,
		]);
	});

	test('that only the record itself has is written, and what is not written takes none', async () => {
		const gone: RecordChange = { action: 'delete', record: record(2), changes: [] };
		const planned = [update(0, { code: 'C' }), gone, create(2, {}), create(3, {})];
		expect(await refused(planned, { C: ['con_1'] })).toEqual(planned.map(() => undefined));
	});

	test('that several items write is written by none of them', async () => {
		const planned = [create(4, { code: 'A' }), update(5, { code: 'A' }), create(6, { code: 'B' })];
		const reason = 'code: items 4, 5 would all get the value “A”, which must be unique.';
		expect(await refused(planned)).toEqual([conflict(4, reason), conflict(5, reason, { record: record(1) }), undefined]);
		const [first] = await refused(Array.from({ length: 11 }, (_, i) => create(i, { code: 'A' })));
		expect(first!.reason).toContain('items 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 would');
		const set: RecordChange = { action: 'update', record: record(1), patch: { code: 'A' }, changes: [] };
		expect((await refused([set, set]))[0]!.reason).toContain('code: several records would all get');
	});

	test('is an ID that a created record once had, too', async () => {
		const planned = [create(0, {}, { formerId: 'con_9' }), create(1, {}, { formerId: 'con_8' })];
		const reason = 'Record con_9 exists, but is outside Records in Scope.';
		expect(await refused(planned, { con_9: ['con_9'] })).toEqual([conflict(0, reason, { formerId: 'con_9' }), undefined]);
	});

	test('is shortened to a hundred characters in a message', async () => {
		const [long, short] = ['x'.repeat(200), `“${'x'.repeat(100)}”`];
		const changes = [create(0, { code: long }), create(1, { code: long })];
		const all = [...(await refused(changes.slice(1), { [long]: ['con_7'] })), ...(await refused(changes))];
		for (const change of all) expect(change!.reason).toContain(short);
	});
});

const missing = (howMany: number, action: RecordChange['action'] = 'delete'): RecordChange[] =>
	Array.from({ length: howMany }, (_, i) => ({ action, record: record(i), changes: [] }));

const guarded = (changes: RecordChange[], limits: { share?: number; number?: number }, counts: Partial<RecordCounts> = {}) => {
	const notices = new Set<string>();
	const all = { comparable: changes.length, inSource: 1, unreadable: 0, ...counts };
	const planned = guardDeletions(changes, { share: 100, number: Infinity, ...limits }, all, notices);
	return { planned, reason: [...notices][0] };
};

test.each([
	['one more than the number', 101, { number: 100 }, 1000, /allows 100\./],
	['one more than the share', 11, { share: 10 }, 100, /allows 10 %/],
	['two of three, as fewer would remain', 2, { share: 10 }, 3, /allows 10 %/],
	['all of one', 1, { share: 10 }, 1, /allows 10 %/],
	['four of thirty-nine, if a tenth is allowed', 4, { share: 10 }, 39, /allows 10 %/],
	['one of three, if no share is allowed', 1, { share: 0 }, 3, /allows 0 %/],
	['one of three, if no number is allowed', 1, { number: 0 }, 3, /allows 0\./],
	['anything if the number is not a number', 1, { number: NaN }, 1000, /allows NaN/],
	['anything if the share is not a number', 1, { share: NaN }, 1000, /allows NaN/],
])('%s is not deleted, nor are the others', (_, count, limits, comparable, reason) => {
	const result = guarded(missing(count), limits, { comparable });
	expect(result.reason).toMatch(reason);
	expect(result.reason).toContain(`${count} of ${comparable} records`);
	expect(result.planned).toHaveLength(count);
	for (const change of result.planned) expect(change).toMatchObject({ action: 'conflict', reason: result.reason });
});

test.each([
	['as many as the number', 100, { number: 100 }, 1000],
	['as many as the share', 10, { share: 10 }, 100],
	['three of six', 3, { share: 1 }, 6],
])('%s are deleted, but none if the source may have them', (_, count, limits, comparable) => {
	const planned = missing(count);
	expect(guarded(planned, limits, { comparable })).toEqual({ planned });
	expect(guarded(planned, limits, { comparable, unreadable: 1 }).reason).toContain('because 1 items have no key');
	expect(guarded(planned, limits, { comparable, inSource: 0 }).reason).toContain('because the source is empty.');
});

test('setting records as missing counts like deleting them', () => {
	const planned = [...missing(1, 'update'), ...missing(1)];
	expect(guarded(planned, { number: 1 }).reason).toMatch(/^2 of 2/);
});

test('changes of records that the source has are neither counted nor held back', () => {
	const update: RecordChange = { action: 'update', item: 0, record: record(9), patch: { last_name: 'x' }, changes: [] };
	const unchanged: RecordChange = { action: 'unchanged', record: record(8), changes: [] };
	const { planned, reason } = guarded([update, unchanged, ...missing(2)], { number: 1 });
	expect(reason).toMatch(/^2 of 4/);
	expect(planned.slice(0, 2)).toEqual([update, unchanged]);
	// No record is missing here, so an empty source is not a reason to refuse.
	expect(guarded([update], { number: 0 }, { inSource: 0 })).toEqual({ planned: [update] });
});
