import type { IDataObject } from 'n8n-workflow';

import { RecordComparison } from '../../nodes/CrmPlatform/fields/recordComparison';
import type { RecordChange } from '../../nodes/CrmPlatform/changes/apply';
import { type Field, fieldNamed, idField } from '../../nodes/CrmPlatform/fields/field.ts';
import { conditionOf } from '../../nodes/CrmPlatform/fields/condition';
import { type CrmRecord, CrmRecords, refuseOutsiders } from '../../nodes/CrmPlatform/sync/crmRecords';
import type { SyncRules } from '../../nodes/CrmPlatform/sync/settings';
import { comparableCount, planChanges } from '../../nodes/CrmPlatform/sync/syncPlan';
import { matchKeysOf, type SourceRecord } from '../../nodes/CrmPlatform/sync/syncSource';
import { listed } from '../../nodes/CrmPlatform/base/lists';
import { timeSpan } from '../../nodes/CrmPlatform/values/dates';

const [email, code, name] = [fieldNamed('email'), fieldNamed('code'), fieldNamed('name')];

const usual: SyncRules = {
	missingInCrm: 'create', differing: 'update', missingInSource: 'leave', bothChanged: 'conflict', checksVersions: false,
};

type Item = IDataObject & { of?: Partial<SourceRecord> };

interface Case {
	rules?: Partial<SyncRules>;
	/** The fields to match on; Email by default. */
	match?: Field[];
	unique?: Field[];
}

/** The decisions about items, whose keys are their values, and records of the CRM. */
function plan(items: Item[], records: CrmRecord[], { rules, match = [email], unique = [] }: Case = {}) {
	const source = items.map(({ of, ...values }, item): SourceRecord => ({
		item,
		values,
		keys: matchKeysOf(values, match),
		...of,
	}));
	return planChanges(source, new CrmRecords(records, {}), {
		rules: { ...usual, ...rules }, match, unique, compare: new RecordComparison([email, code, name]), changedField: 'updated_at',
	});
}

const ada = { id: 'con_1', email: 'ada@x.example', name: 'Ada' };
const bob = { id: 'con_2', email: 'bob@x.example', name: 'Bob' };
const reasonOf = ([change]: RecordChange[]) => change!.reason;

test('versions are not compared with a record that has none', () => {
	const compared = () => plan([{ email: 'ada@x.example', name: 'New' }], [ada], { rules: { checksVersions: true } });
	expect(compared).toThrow('Record con_1: It has no version');
});

test('a record that only the source has is created with all its values', () => {
	expect(plan([{ email: 'new@x.example', name: 'New' }], [ada])).toEqual([
		{
			action: 'create',
			item: 0,
			values: { email: 'new@x.example', name: 'New' },
			changes: [{ field: 'email', from: null, to: 'new@x.example' }, { field: 'name', from: null, to: 'New' }],
			patch: { email: 'new@x.example', name: 'New' },
		},
	]);
});

test('a record that only the source has is left out if the user chooses so', () => {
	const [change] = plan([{ email: 'new@x.example' }], [], { rules: { missingInCrm: 'leave' } });
	expect(change).toMatchObject({ action: 'unchanged', item: 0, reason: expect.stringContaining('Leave It Out') });
	expect(change).not.toHaveProperty('patch');
});

test.each([
	['conflict', 'conflict'],
	['latest', 'conflict'],
	['crm', 'unchanged'],
	['source', 'create'],
] as const)('a record that the source has seen and the CRM has deleted is returned by the rule “%s” as %s', (bothChanged, action) => {
	const [change] = plan([{ email: 'gone@x.example', of: { seenVersion: '1' } }], [ada], { rules: { bothChanged } });
	expect(change).toMatchObject({ action, item: 0, values: { email: 'gone@x.example' }, changes: [{ field: 'email' }] });
	if (action === 'create') expect(change!.reason).toBeUndefined();
	else expect(change!.reason).toContain('no longer returns it');
});

test('an ID that the CRM no longer has is created again only under another key, which then finds it', () => {
	const id = fieldNamed('id');
	const gone = (keys: Array<string | undefined>) => ({ email: 'gone@x.example', of: { id: 'con_9', keys } });
	const [rules, match] = [{ bothChanged: 'source' } as const, [id, email]];
	const [conflict] = plan([gone(['con_9', undefined])], [], { rules, match });
	expect(conflict).toMatchObject({
		action: 'conflict', reason: expect.stringContaining('no longer has record con_9'), values: { email: 'gone@x.example' },
	});
	expect(reasonOf(plan([gone(['con_9', undefined])], [], { match }))).toContain('no longer returns it');
	const [create] = plan([gone(['con_9', 'gone@x.example'])], [], { rules, match });
	expect(create).toMatchObject({ action: 'create', formerId: 'con_9', patch: { email: 'gone@x.example' } });
});

test('two items of one key are both conflicts that name each other, with no record and no change', () => {
	const twice = plan([{ email: ada.email, name: 'One' }, { email: ada.email, name: 'Two' }], [ada]);
	for (const [item, change] of twice.entries()) {
		expect(change).toEqual({
			action: 'conflict',
			item,
			values: { email: ada.email, name: item === 0 ? 'One' : 'Two' },
			changes: [],
			reason: expect.stringMatching(/“ada@x\.example” is the key of several items \(0, 1\)/),
		});
	}
});

test('items with different earlier keys may share a later one', () => {
	const items = [{ email: ada.email, code: 'X' }, { email: bob.email, code: 'X' }];
	expect(plan(items, [], { match: [email, code] }).map(({ action }) => action)).toEqual(['create', 'create']);
	const [first, shared] = plan([{ email: ada.email, code: 'X' }, { code: 'X' }, { code: 'X' }], [], { match: [email, code] });
	expect(first!.action).toBe('create');
	expect(shared).toMatchObject({ action: 'conflict', reason: expect.stringContaining('(1, 2)') });
});

test('a key of several records of the CRM is a conflict that names them all', () => {
	const change = plan([{ email: ada.email }], [ada, { ...bob, email: ada.email }, { id: 'con_3', email: ada.email }])[0]!;
	expect(change).toMatchObject({ action: 'conflict', item: 0, reason: expect.stringContaining('con_1, con_2, con_3. Merge') });
	expect(change.record).toBeUndefined();
});

test('a record to which two items lead by different keys belongs to neither of them', () => {
	const record = { ...ada, code: 'A' };
	const planned = plan([{ email: ada.email, name: 'Ada B' }, { code: 'A', name: 'Ada C' }], [record], { match: [email, code] });
	for (const [item, change] of planned.entries()) {
		expect(change).toMatchObject({ action: 'conflict', item, record, reason: expect.stringContaining('several items (0, 1)') });
		// What would change is shown.
		expect(change.changes).toEqual([{ field: 'name', from: 'Ada', to: item === 0 ? 'Ada B' : 'Ada C' }]);
	}
});

test('an item whose key was refused does not take a record from another', () => {
	const items = [{ email: 'twice@x.example', code: 'A' }, { email: 'twice@x.example', code: 'A' }, { code: 'A', name: 'Ada B' }];
	const planned = plan(items, [{ ...ada, email: null, code: 'A' }], { match: [email, code] });
	expect(planned.map(({ action }) => action)).toEqual(['conflict', 'conflict', 'update']);
});

test('a record found by its second key is a different one if its first key differs', () => {
	const record = { ...ada, code: 'A' };
	const reason = reasonOf(plan([{ email: 'other@x.example', code: 'A' }], [record], { match: [email, code] }));
	expect(reason).toBe(
		'Record con_1 has this item’s code, but another email: “ada@x.example”. It may be another record. Correct the key, or remove it from one of them.',
	);
	expect(plan([{ code: 'A', name: 'Ada B' }], [record], { match: [email, code] })[0]!.action).toBe('conflict');
	// The first key decides: a later one may change. Only a record without a first key is linked.
	expect(plan([{ email: ada.email, code: 'B' }], [record], { match: [email, code] })[0]!.action).toBe('update');
	expect(plan([{ email: 'other@x.example', code: 'A' }], [{ ...record, email: null }], { match: [email, code] })[0]!.action).toBe('update');
	// An unknown ID belongs to a deleted record.
	expect(plan([{ id: 'con_9', email: ada.email, name: 'Ada B' }], [ada], { match: [fieldNamed('id'), email] })[0]!.action).toBe('update');
});

const since = 'The CRM has changed this record since the source saw it (version 9, now 10).';
const unordered = `${since} It is unknown which of the two was changed later.`;
const unseen = 'The source has not seen this record of the CRM yet, and its values differ.';
const otherSeen = 'The source has seen record con_9, not record con_1, and the values differ.';
const updatedAt = '2026-01-01T12:00:00.123Z';
const [earlier, later, thatDay, instant] = ['2026-01-01T10:00:00Z', '2026-01-02T10:00:00Z', '2026-01-01', updatedAt]
	.map((time) => timeSpan(time, 'utc'));
const seen = (more: Partial<SourceRecord> = {}): Partial<SourceRecord> => ({ seenVersion: '9', ...more });

test.each<[string, Partial<SourceRecord>, Partial<SyncRules>, RecordChange['action'], string | null]>([
	['versions are not compared', { seenVersion: '11' }, { checksVersions: false }, 'update', null],
	['differences are left', { seenVersion: '11' }, { differing: 'leave' }, 'unchanged', expect.stringContaining('When Values Differ')],
	['its version was seen', { seenVersion: '10' }, {}, 'update', null],
	['a later version was seen', { seenVersion: '11' }, { bothChanged: 'source' }, 'conflict', expect.stringContaining('only has version 10')],
	['an earlier version was seen', seen(), {}, 'conflict', since],
	['no version was seen', {}, {}, 'conflict', unseen],
	['the CRM wins', seen(), { bothChanged: 'crm' }, 'unchanged', `${since} The CRM takes precedence.`],
	['the source wins', seen(), { bothChanged: 'source' }, 'update', `${since} The source takes precedence.`],
	['the source is later', seen({ changedAt: later }), { bothChanged: 'latest' }, 'update', `${since} The source was changed later.`],
	['the CRM is later', seen({ changedAt: earlier }), { bothChanged: 'latest' }, 'unchanged', `${since} The CRM was changed later.`],
	['both were changed at the same instant', seen({ changedAt: instant }), { bothChanged: 'latest' }, 'conflict', unordered],
	['the source only knows that it was the same day', seen({ changedAt: thatDay }), { bothChanged: 'latest' }, 'conflict', unordered],
	['the source has no time', seen(), { bothChanged: 'latest' }, 'conflict', unordered],
	['the ID of the item is its own', seen({ id: ada.id }), {}, 'conflict', since],
	['the version is that of another ID', { seenVersion: '10', id: 'con_9' }, {}, 'conflict', otherSeen],
	['only the source has changed the agreed value', seen({ agreed: { name: 'Ada' } }), {}, 'update', null],
	['only the CRM has changed the agreed value', seen({ agreed: { name: 'New' } }), { bothChanged: 'source' }, 'unchanged', since],
	['both have changed the agreed value', seen({ agreed: { name: 'Old' } }), {}, 'conflict', since],
	['the agreed value is that of another ID', { id: 'con_9', agreed: { name: 'New' } }, {}, 'conflict', otherSeen],
])('a record with other values, if %s', (_, of, more, action, reason) => {
	const current = { ...ada, version: 10, updated_at: updatedAt };
	const planned = (name: string) => plan([{ email: ada.email, name, of }], [current], { rules: { checksVersions: true, ...more } });
	const isKept = action === 'unchanged' && more.differing !== 'leave';
	expect(planned('New')).toEqual([{
		action,
		item: 0,
		record: current,
		changes: [{ field: 'name', from: 'Ada', to: 'New', ...(isKept && { kept: true }) }],
		...(action === 'update' && { patch: { name: 'New' } }),
		...(reason !== null && { reason }),
	}]);
	expect(planned('Ada')).toEqual([{ action: 'unchanged', item: 0, record: current, changes: [] }]);
});

test('edits of different fields are merged, with a reason', () => {
	const current = { ...ada, code: 'Of the CRM', version: 10 };
	const values = { name: 'New', code: 'A' };
	const of = seen({ agreed: { name: 'Ada', code: 'A' } });
	expect(plan([{ email: ada.email, ...values, of }], [current], { rules: { checksVersions: true } })).toEqual([{
		action: 'update',
		item: 0,
		record: current,
		changes: [{ field: 'name', from: 'Ada', to: 'New' }, { field: 'code', from: 'Of the CRM', to: 'A', kept: true }],
		patch: { name: 'New' },
		reason: since,
	}]);
});

test('versions are compared as whole numbers, also above 2^53', () => {
	const item = { email: ada.email, name: 'New', of: { seenVersion: '9007199254740993' } };
	const current = { ...ada, version: '9007199254740992' };
	expect(reasonOf(plan([item], [current], { rules: { checksVersions: true } }))).toContain('only has version 9007199254740992');
});

test('a version counts for the record that the first field to match on finds', () => {
	const current = { ...ada, email: null, code: 'A', version: 2 };
	const rules = { checksVersions: true };
	const [change] = plan([{ code: 'A', name: 'New', of: { seenVersion: '2' } }], [current], { match: [email, code], rules });
	expect(change).toMatchObject({ action: 'conflict', reason: 'The source has not seen record con_1 yet, and the values differ.' });
});

describe('a record that the source does not have', () => {
	const leaving = (record: CrmRecord, rules: Partial<SyncRules>, more: Case = {}) =>
		plan([{ email: bob.email }], [bob, record], { ...more, rules: { missingInSource: 'delete', ...rules } }).slice(1);

	test('is left alone unless the user chooses otherwise', () => {
		expect(leaving(ada, { missingInSource: 'leave' })).toEqual([]);
	});

	test('is deleted', () => {
		expect(leaving(ada, {})).toEqual([{ action: 'delete', record: ada, changes: [], reason: 'The source does not have this record.' }]);
	});

	test('is deleted if items have no value either where it has none', () => {
		expect(leaving({ ...ada, name: null }, {}, { unique: [{ ...name, label: 'Name' }] })).toMatchObject([{ action: 'delete' }]);
	});

	test('stays if an item has its ID in another notation', () => {
		const item = { email: 'new@x.example', of: { id: 'CON_1', keys: ['CON_1'] } };
		const planned = plan([item], [ada], { match: [idField], rules: { missingInSource: 'delete' } });
		expect(planned[1]).toMatchObject({ action: 'conflict', record: ada, reason: expect.stringContaining('item 0') });
	});

	test('gets the values for missing records, and no others', () => {
		const rules = { missingInSource: 'set', valuesToSet: { name: 'Gone', code: 'X' } } as const;
		const record = { ...ada, code: 'X' };
		const changes = [{ field: 'name', from: 'Ada', to: 'Gone' }];
		const reason = 'The source does not have this record.';
		expect(leaving(record, rules)).toEqual([{ action: 'update', record, changes, patch: { name: 'Gone' }, reason }]);
		const set = { ...record, name: 'Gone' };
		expect(leaving(set, rules)).toEqual([{ action: 'unchanged', record: set, changes: [], reason }]);
		expect(leaving(ada, { missingInSource: 'set' })).toMatchObject([{ action: 'unchanged', changes: [] }]);
	});

	test('is not deleted twice', () => {
		const gone = { ...ada, deleted_at: '2026-01-01T00:00:00Z' };
		const reason = expect.stringContaining('deleted it already');
		expect(leaving(gone, {})).toEqual([{ action: 'unchanged', record: gone, changes: [], reason }]);
		// A value may still be set.
		expect(leaving(gone, { missingInSource: 'set', valuesToSet: { name: 'Gone' } })).toMatchObject([{ action: 'update' }]);
	});

	test('stays if it has no key by which an item could match it', () => {
		const record = { id: 'con_3', email: null, name: 'Nobody' };
		const reason = 'The record has no email, so no item can match it. It was left unchanged.';
		expect(leaving(record, {})).toEqual([{ action: 'unchanged', record, changes: [], reason }]);
		expect(leaving(record, {}, { match: [email, code] })[0]!.reason).toContain('has no email and no code');
		expect(leaving({ ...record, code: 'C' }, {}, { match: [email, code] })).toMatchObject([{ action: 'delete' }]);
		expect(comparableCount([record, ada, { ...bob, deleted_at: '2026-01-01T00:00:00Z' }], [email])).toBe(1);
	});

	test('is not missing if any key of any item finds it, even if another key decides', () => {
		const more: Case = { match: [email, code], rules: { missingInSource: 'delete' } };
		const planned = plan([{ email: ada.email, code: 'B' }], [ada, { ...bob, code: 'B' }], more);
		expect(planned.map(({ action }) => action)).toEqual(['update']);
	});

	test('stays if an item has another unique value of it, and that item is not created', () => {
		const items = [{ email: bob.email }, { email: 'new@x.example', name: 'Ada' }, { email: 'newer@x.example', name: 'Ada' }];
		const planned = plan(items, [bob, ada], { rules: { missingInSource: 'delete' }, unique: [{ ...name, label: 'Name' }] });
		expect(planned.map(({ action }) => action)).toEqual(['unchanged', 'conflict', 'conflict', 'conflict']);
		expect(planned[1]).toEqual({
			action: 'conflict',
			item: 1,
			values: items[1],
			changes: [{ field: 'email', from: null, to: 'new@x.example' }, { field: 'name', from: null, to: 'Ada' }],
			reason: 'Record con_1 has this item’s Name but a different key, so it may be the same record. Correct the key.',
		});
		expect(planned[3]).toEqual({ action: 'conflict', record: ada, changes: [], reason: expect.stringContaining('but item 1 has its Name') });
	});
});

test('an earlier decision about an item stays, even if it points to a missing record', () => {
	const items = [{ email: bob.email, name: 'Ada' }];
	const planned = plan(items, [bob, ada], { rules: { missingInSource: 'delete' }, unique: [{ ...name, label: 'Name' }] });
	expect(planned[0]).toMatchObject({ action: 'update', patch: { name: 'Ada' } });
	expect(planned[1]).toMatchObject({ action: 'conflict', reason: expect.stringContaining('item 0') });
});

test('each item is told which of its values a missing record has', () => {
	const items = [{ email: 'new@x.example', name: 'Ada' }, { email: 'newer@x.example', code: 'A' }];
	const unique = [{ ...name, label: 'Name' }, { ...code, label: 'Code' }];
	const records = [{ ...ada, code: 'A' }, { ...bob, name: 'Ada' }];
	const [first, second] = plan(items, records, { rules: { missingInSource: 'delete' }, unique });
	expect(first!.reason).toContain('Record con_1 has this item’s Name');
	expect(second!.reason).toContain('item’s Code');
});

test('a unique value in another notation points to a missing record only if no key has found the item’s record', () => {
	const record = { ...ada, name: '+4930123' };
	const missingAfter = (email: string) =>
		plan([{ email, name: '+49 (30) 123' }], [bob, record], { rules: { missingInSource: 'delete' }, unique: [{ ...name, label: 'Name' }] })
			.filter((change) => change.item === undefined && change.record?.id === ada.id);
	expect(missingAfter(bob.email)).toMatchObject([{ action: 'delete' }]);
	expect(missingAfter('new@x.example')).toMatchObject([{ action: 'conflict', reason: expect.stringContaining('item 0 has its Name') }]);
});

test('a message lists ten values, and says if there are more', () => {
	const values = Array.from({ length: 11 }, (_, i) => i);
	expect(listed(values.slice(0, 10))).toBe('0, 1, 2, 3, 4, 5, 6, 7, 8, 9');
	expect(listed(values)).toBe('0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …');
});

const byName = [conditionOf('name', 'x', fieldNamed('name'), [fieldNamed('name')])];

test.each<[string, Array<{ id: string; name?: string }>, string[], boolean]>([
	['described', [{ id: '1' }], ['name'], true],
	['returned in another record', [{ id: '1' }, { id: '2', name: 'x' }], [], true],
	['neither described nor returned', [{ id: '1' }], [], false],
])('a record without the field of a filter is outside the scope if the field is %s: %#', (_, records, described, isOutside) => {
	const check = () => refuseOutsiders(records, byName, new Set(described));
	if (isOutside) expect(check).toThrow('returned record 1, whose name is empty');
	else expect(check).not.toThrow();
});

test('a record that may be in scope is not refused', () => {
	expect(() => refuseOutsiders([{ id: '1', name: { first: 'x' } }], byName, new Set(['name']))).not.toThrow();
});

test('a key is shortened to a hundred characters in a message', () => {
	const [long, short] = ['x'.repeat(200), expect.stringContaining(`“${'x'.repeat(100)}”`)];
	const twice = plan([{ code: long }, { code: long }], [], { match: [code] });
	const [other] = plan([{ email: ada.email, code: 'A' }], [{ ...ada, code: long }], { match: [code, email] });
	expect([...twice, other].map((change) => change!.reason)).toEqual([short, short, short]);
});
