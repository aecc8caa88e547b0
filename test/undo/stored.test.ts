import type { IDataObject } from 'n8n-workflow';

import { afterWrite } from '../../nodes/CrmPlatform/undo/undoWrites';
import type { RecordUndo } from '../../nodes/CrmPlatform/undo/recordUndo';

const history = { collection: '/contacts', id: 'con_1', recordType: 'contact' } as RecordUndo['history'];
const update = (values: IDataObject): RecordUndo => ({
	history,
	result: 'undone',
	action: 'update',
	changes: Object.entries(values).map(([field, to]) => ({ field, from: 'wrong', to })),
});

describe('the values that the CRM has stored are compared with those that an undo has sent', () => {
	const sentValues = { email: 'a@x.example', emails: ['a@x.example', 'b@x.example'], job_title: 'Poet' };
	const stored = { ...sentValues, emails: ['a@x.example'], version: '7' };

	test('values that differ are sent once more, over the record as it was stored', () => {
		const { nextAttempt: part, result } = afterWrite(update(sentValues), { record: stored });
		expect(result).toBe('undone');
		expect(part).toMatchObject({ current: stored, storedOtherwise: ['emails'], changes: update(sentValues).changes });
		expect(afterWrite(part!, { record: sentValues }).nextAttempt).toBeUndefined();
	});

	test.each([
		['differ again', { record: stored }],
		['are then refused', { refused: new Error('no') }],
	])('values that %s are reported and not sent a third time', (_, outcome) => {
		const { nextAttempt: part } = afterWrite(update(sentValues), { record: stored });
		const after = afterWrite(part!, outcome);
		expect(after).toMatchObject({ result: 'cannot_be_undone', action: 'update', reason: expect.stringContaining('emails') });
		expect(after.nextAttempt).toBeUndefined();
		expect(after.changes.filter(({ kept }) => kept).map(({ field }) => field)).toEqual(['emails']);
	});

	test.each<[string, unknown, unknown]>([
		['links in another sequence', ['con_2', 'con_1'], ['con_1', 'con_2']],
		['empty members that were not sent', { city: 'Lund', state: null }, { city: 'Lund' }],
		['an empty list instead of nothing', [], null],
		['a field that the answer does not have', undefined, 'x'],
	])('%s: nothing is sent again', (_, now, to) => {
		expect(afterWrite(update({ x: to as string }), { record: now === undefined ? {} : { x: now } })).toEqual(update({ x: to as string }));
	});

	test.each<[string, unknown, unknown]>([
		['a value instead of none', 'x', null],
		['entries in another sequence', [{ value: 'b' }, { value: 'a' }], [{ value: 'a' }, { value: 'b' }]],
		['a member with another value', { city: 'Lund' }, { city: 'Malmö' }],
		['null instead of an object', null, { city: 'Lund' }],
		['a missing link', ['con_1'], ['con_1', 'con_2']],
	])('%s is a difference', (_, now, to) => {
		expect(afterWrite(update({ x: to as string }), { record: { x: now as string } }).nextAttempt?.storedOtherwise).toEqual(['x']);
	});
});
