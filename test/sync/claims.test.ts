import { claimsOf } from '../../nodes/CrmPlatform/sync/syncPlan';
import type { PlannedChange } from '../../nodes/CrmPlatform/changes/plan';
import { uniqueValueIn } from '../../nodes/CrmPlatform/sync/matching';
import { fieldNamed } from '../../nodes/CrmPlatform/fields/field.ts';

const email = fieldNamed('email', { label: 'Email' });

test.each([
	['texts', ['a@x.example', 'b@x.example'], 'a@x.example'],
	['objects', [{ value: 'a@x.example' }, { value: 'b@x.example', primary: true }], 'b@x.example'],
	['objects without a main one', [{ value: 'a@x.example' }, { value: 'b@x.example' }], 'a@x.example'],
	['nothing', [], undefined],
])('the unique value in a list of %s is claimed, so that a preview shows who has it', (_, emails, expected) => {
	expect(uniqueValueIn({ emails }, email)).toBe(expected);
	const create = { action: 'create', item: 0, patch: { emails }, changes: [] } as unknown as PlannedChange;
	expect(claimsOf([create], [email]).map(({ key }) => key)).toEqual(expected === undefined ? [] : [expected]);
});
