import { fieldNamed } from '../../nodes/CrmPlatform/fields/field';
import { conditionsOfScope, scopeCheck } from '../../nodes/CrmPlatform/sync/readRecords';

const byName = (recordFields: string[]) =>
	conditionsOfScope([{ field: fieldNamed('name'), converted: 'x' }], [fieldNamed('name')], new Set(recordFields));

test.each<[string, Array<{ id: string; name?: string }>, string[], boolean]>([
	['described', [{ id: '1' }], ['name'], true],
	['returned in another record', [{ id: '1' }, { id: '2', name: 'x' }], [], true],
	['neither described nor returned', [{ id: '1' }], [], false],
])('a record without the field of a filter is outside the scope if the field is %s: %#', (_, records, described, isOutside) => {
	expect(scopeCheck(records, byName(described))(records[0]!) !== undefined).toBe(isOutside);
});

test('a record that may be in scope is not refused', () => {
	expect(scopeCheck([], byName(['name']))({ id: '1', name: { first: 'x' } })).toBeUndefined();
});
