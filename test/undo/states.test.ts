import { RecordComparison } from '../../nodes/CrmPlatform/fields/recordComparison';
import type { RecordUndo } from '../../nodes/CrmPlatform/undo/recordUndo';
import { asStored } from '../../nodes/CrmPlatform/undo/undoWrites';

test.each(['update', 'create'] as const)('values that the CRM stores otherwise than they were sent are reported: %s', (action) => {
	const changes = [{ field: 'job_title', from: 'x', to: 'Poet' }, { field: 'custom_fields.tier', from: 'x', to: 'gold' }];
	const undo = { result: 'undone', action, changes, fields: { compare: new RecordComparison([]) } } as unknown as RecordUndo;
	const after = (tier: string) => asStored(undo, { id: 'con_2', job_title: 'Poet', custom_fields: { tier, other: 'x' } });
	expect(after('gold')).toMatchObject({ result: 'undone', changes });
	expect(after('silver')).toMatchObject({
		result: 'cannot_be_undone',
		changes: [changes[0], { ...changes[1], kept: true }],
		reason: 'The CRM stored other values than the previous ones in custom_fields.tier. Check the record.',
	});
});
