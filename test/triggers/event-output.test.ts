import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../../nodes/CrmPlatform/api/connection';
import { originOf } from '../../nodes/CrmPlatform/api/http/idempotency';
import { type CrmEvent, parseEvent } from '../../nodes/CrmPlatform/log/crmEvent';
import { eventOutput } from '../../nodes/CrmPlatform/trigger/eventOutput';
import { failedFilter } from '../../nodes/CrmPlatform/trigger/eventFilter';

const event = (data: object): CrmEvent =>
	parseEvent({ id: 'evt_1', type: 'deal.updated', timestamp: '2026-01-01T00:00:00Z', sequence: 1, data })!;

const change = (...changed: string[]) =>
	event({ object: { pipeline_id: 'pip_1', owner_id: 'usr_1' }, previous: {}, changed });

const created = event({ object: { pipeline_id: 'pip_1' }, previous: null, changed: [] });
const fields = (...changedFields: string[]) => ({ changedFields, equal: {} });
const passesFilter = (...args: Parameters<typeof failedFilter>) => failedFilter(...args) === undefined;

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

test('a part of an object is chosen by its name, though the CRM reports the object', () => {
	const address = (city: string) => ({ address: { city, street: 'A' } });
	const moved = event({ object: address('Bern'), previous: address('Basel'), changed: ['address'] });
	expect(['address.city', 'address.street', 'address'].map((name) => passesFilter(moved, fields(name)))).toEqual([true, false, true]);
});

test('an event that is not a change passes a filter by changed fields', () => {
	expect(passesFilter(created, fields('amount'))).toBe(true);
});

test('a record passes with one of the chosen values; a record without the field does not', () => {
	const of = (equal: Record<string, string[]>) => passesFilter(created, { changedFields: [], equal });
	expect(of({ pipeline_id: ['pip_2', 'pip_1'], owner_id: [] })).toBe(true);
	expect(of({ pipeline_id: ['pip_2'] })).toBe(false);
	expect(of({ owner_id: ['usr_1'] })).toBe(false);
	const failed = failedFilter(created, { changedFields: [], equal: { owner_id: ['usr_1'] } });
	expect(failed).toBe('the record’s owner_id is not one of those chosen');
});

test('an erased record passes, since whose it was is unknown', () => {
	const erased = event({ object: { id: 'dea_1' }, previous: null, changed: [], erased: true });
	expect(passesFilter(erased, { changedFields: [], equal: { owner_id: ['usr_1'] } })).toBe(true);
});

const types = [
	{ type: 'contact.created', summary: '', collection: '/contacts' },
	{ type: 'custom.{key}.created', summary: '', collection: '/custom-objects/{key}/records' },
	{ type: 'account.changed', summary: '' },
];

/** Reads the current record of an event. Returns the paths that were requested. */
async function pathsRead(type: string, object: IDataObject): Promise<string[]> {
	const paths: string[] = [];
	const send = async ({ path }: { path: string }) => await Promise.resolve({ status: 200, headers: {}, body: { id: paths.push(path) } });
	const api = { describeEvents: async () => await Promise.resolve({ types, patterns: [] }), send } as unknown as Connection;
	const event = { id: 'evt_1', type, timestamp: '2026-01-01T00:00:00Z', sequence: 1, data: { object, previous: null, changed: [] } };
	const output = { content: 'current', receiver: originOf('instance-1', 'wf1'), names: 'none' } as const;
	await eventOutput(event, output, api);
	return paths;
}

test.each<[string, unknown, string[]]>([
	['contact.created', 'con_1', ['/contacts/con_1']],
	['contact.created', 7, ['/contacts/7']],
	['custom.cars.created', 'rec_1', ['/custom-objects/cars/records/rec_1']],
	['contact.created', undefined, []],
	['account.changed', 'acc_1', []],
	['unknown.created', 'x_1', []],
])('the current record of %s with the ID %p is read from its collection', async (type, id, paths) => {
	expect(await pathsRead(type, { id } as IDataObject)).toEqual(paths);
});
