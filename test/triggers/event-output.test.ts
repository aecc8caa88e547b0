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
const passesFilter = (...args: Parameters<typeof failedFilter>) => failedFilter(...args) === undefined;
const [now, before] = ['Bern', 'Basel'].map((city) => ({ address: { city, street: 'A' } }));
const moved = event({ object: now, previous: before, changed: ['address'] });

test.each<[string, CrmEvent, string[], boolean]>([
	['without a choice, a change passes', change('amount'), [], true],
	['and so does another event', created, [], true],
	['a change passes if one of its fields is among the chosen ones', change('name', 'amount'), ['amount', 'stage_id'], true],
	['and not otherwise', change('name'), ['amount'], false],
	['custom fields are chosen individually', change('custom_fields.tier'), ['custom_fields.tier'], true],
	['by their whole names', change('custom_fields.tier2'), ['custom_fields.tier'], false],
	['or all of them', change('custom_fields.tier'), ['custom_fields'], true],
	['a part of an object is chosen by its name, though the CRM reports the object', moved, ['address.city'], true],
	['which leaves out the other parts', moved, ['address.street'], false],
	['or the object is', moved, ['address'], true],
	['an event that is not a change passes any choice', created, ['amount'], true],
])('of changed fields: %s', (_, candidate, changedFields, expected) => {
	expect(passesFilter(candidate, { changedFields, equal: {} })).toBe(expected);
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
