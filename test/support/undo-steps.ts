import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

/** The record types of a history, with values of their fields. */
export const undoValues: Record<string, Record<string, unknown[]>> = {
	contacts: {
		last_name: ['Ada', 'Grace', 'Mary'],
		job_title: ['Poet', 'Admiral', null],
		address: [{ city: 'London' }, { city: 'Paris', street: 'Rue 1' }, null],
		marketing_consent: [{ email: true }, { email: false, sms: true }, null],
		phones: [[], [{ value: '+442071838750', label: 'work' }]],
		'custom_fields.contract_tier': ['gold', 'silver', null],
		company_id: ['companies'],
	},
	companies: { name: ['Engines', 'Looms'], description: ['x', 'y', null], parent_company_id: ['companies'] },
	deals: { title: ['Deal', 'Offer'], amount: [1, 2.5, null], contact_ids: ['contacts'], company_id: ['companies'] },
	tasks: { title: ['Call', 'Write'], status: ['not_started', 'completed'], links: ['contacts', 'companies'] },
};
export const undoRecordTypes = Object.keys(undoValues);
/** The required fields of a new record. */
export const requiredFields: Record<string, IDataObject> = {
	contacts: { last_name: 'Base' }, companies: { name: 'Base' }, deals: { title: 'Base' }, tasks: { title: 'Base' },
};

const change = fc.record({ field: fc.nat(6), value: fc.nat(2), target: fc.nat(9) });
const by = fc.constantFrom('own', 'own', 'own', 'sister', 'other');
const record = fc.nat(11);
const someRecords = fc.array(record, { minLength: 2, maxLength: 4 });
const someChanges = fc.array(change, { minLength: 1, maxLength: 3 });
const upToThreeChanges = fc.array(change, { maxLength: 3 });
const step = fc.oneof(
	{ weight: 6, arbitrary: fc.record({ do: fc.constant('update' as const), by, record, changes: someChanges }) },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant('create' as const), by, recordType: fc.nat(3), changes: upToThreeChanges }) },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), by, record }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant('batch' as const), by, records: someRecords, change }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant('win' as const), by, record }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant('tag' as const), by, record }) },
);

/** The steps of a history, and a fault during its undo. */
export const undoHistories = fc.record({
	steps: fc.array(step, { minLength: 1, maxLength: 9 }),
	fault: fc.option(
		fc.record({
			/** The number of the request that it precedes. */
			at: fc.nat(16),
			type: fc.constantFrom('dropped', 'answer lost', 'killed', 'edited', 'deleted' as const),
			record,
		}),
		{ nil: undefined },
	),
});
export type UndoHistory = typeof undoHistories extends fc.Arbitrary<infer One> ? One : never;
export type UndoStep = UndoHistory['steps'][number];
