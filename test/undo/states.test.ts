import { comparison } from '../../nodes/CrmPlatform/changes/merge';
import { fieldNamed } from '../../nodes/CrmPlatform/fields/field';
import { compareStates, type RecordUndo } from '../../nodes/CrmPlatform/undo/history';
import type { UndoFields } from '../../nodes/CrmPlatform/undo/undoFields';
import { afterWrite } from '../../nodes/CrmPlatform/undo/undoOrder';

const early = '2026-11-26T10:00:00.100Z';
const late = '2026-11-26T10:00:00.900Z';

test.each([
	['increasing versions', { version: 3 }, { version: 2 }, 'newer'],
	['versions as text', { version: '10' }, { version: '9' }, 'newer'],
	['versions beyond the precision of numbers', { version: '1152921504606846978' }, { version: '1152921504606846977' }, 'newer'],
	['decreasing versions beyond the precision of numbers', { version: '1152921504606846977' }, { version: '1152921504606846978' }, 'older'],
	['equal versions in two notations', { version: 2 }, { version: '2' }, 'same'],
	['equal versions at an earlier time, as in a replica', { version: 1, time: early }, { version: 1, time: late }, 'same'],
	['times of changes', { time: late }, { time: early }, 'newer'],
	['one time in two notations', { version: 1, time: early }, { version: 1, time: '2026-11-26T11:00:00+01:00' }, 'same'],
	['one time with and without fractions of a second', { time: late }, { time: '2026-11-26T10:00:00Z' }, 'same'],
	['times without fractions of a second', { time: '2026-11-26T10:00:01Z' }, { time: late }, 'newer'],
	['nothing in common', { version: 1 }, { time: early }, 'unknown'],
])('%s: a record with %j, earlier with %j, is %s', (_, now, then, expected) => {
	expect(compareStates(now, then)).toBe(expected);
});

test('JSON is restored as one value, with members that have none', () => {
	const { difference } = comparison([fieldNamed('data', { kind: 'json' })], true);
	const data = { a: null, b: {}, c: 1 };
	expect(difference({}, { data })).toEqual({ changes: [{ field: 'data', from: null, to: data }], patch: { data } });
});

test('values that the CRM stores otherwise than they were sent are reported', () => {
	const changes = [{ field: 'job_title', from: 'x', to: 'Poet' }, { field: 'custom_fields.tier', from: 'x', to: 'gold' }];
	const undo = { history: {}, result: 'undone', action: 'update', changes } as unknown as RecordUndo;
	const fields = { compare: comparison([]) } as UndoFields;
	const after = (tier: string) => afterWrite(undo, { job_title: 'Poet', custom_fields: { tier, other: 'x' } }, fields);
	expect(after('gold')).toBe(undo);
	expect(after('silver')).toMatchObject({
		result: 'cannot_be_undone',
		changes: [changes[0], { ...changes[1], kept: true }],
		reason: 'The CRM stored other values than the previous ones in custom_fields.tier. Check the record.',
	});
});
