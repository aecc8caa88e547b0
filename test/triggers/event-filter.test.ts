import type { CrmEvent } from '../../nodes/CrmPlatform/log/crmEvent';
import { parseEvent } from '../../nodes/CrmPlatform/log/crmEvent';
import { passesFilter } from '../../nodes/CrmPlatform/trigger/eventProperties';

const event = (data: object): CrmEvent =>
	parseEvent({ id: 'evt_1', type: 'deal.updated', timestamp: '2026-01-01T00:00:00Z', sequence: 1, data })!;

const change = (...changed: string[]) =>
	event({ object: { pipeline_id: 'pip_1', owner_id: 'usr_1' }, previous: {}, changed });
const created = event({ object: { pipeline_id: 'pip_1' }, previous: null, changed: [] });
const fields = (...changedFields: string[]) => ({ changedFields, equal: {} });

test('without filters every event passes', () => {
	expect([change('amount'), created].every((candidate) => passesFilter(candidate, fields()))).toBe(true);
});

test('a change passes if one of its fields is among the chosen ones', () => {
	expect(passesFilter(change('name', 'amount'), fields('amount', 'stage_id'))).toBe(true);
	expect(passesFilter(change('name'), fields('amount'))).toBe(false);
});

test('custom fields are chosen individually, or all of them', () => {
	expect(passesFilter(change('custom_fields.tier'), fields('custom_fields.tier'))).toBe(true);
	expect(passesFilter(change('custom_fields.tier'), fields('custom_fields'))).toBe(true);
	expect(passesFilter(change('custom_fields.tier2'), fields('custom_fields.tier'))).toBe(false);
});

test('an event that is not a change passes a filter by changed fields', () => {
	expect(passesFilter(created, fields('amount'))).toBe(true);
});

test('a record passes with one of the chosen values; a record without the field does not', () => {
	const of = (equal: Record<string, string[]>) => passesFilter(created, { changedFields: [], equal });
	expect(of({ pipeline_id: ['pip_2', 'pip_1'], owner_id: [] })).toBe(true);
	expect(of({ pipeline_id: ['pip_2'] })).toBe(false);
	expect(of({ owner_id: ['usr_1'] })).toBe(false);
});

test('an erased record passes, since whose it was is unknown', () => {
	const erased = event({ object: { id: 'dea_1' }, previous: null, changed: [], erased: true });
	expect(passesFilter(erased, { changedFields: [], equal: { owner_id: ['usr_1'] } })).toBe(true);
});
