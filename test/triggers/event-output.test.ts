import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../../nodes/CrmPlatform/api/connection';
import { originOf } from '../../nodes/CrmPlatform/api/http/idempotency';
import { eventOutput } from '../../nodes/CrmPlatform/trigger/eventOutput';

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
	const output = { shape: 'current', origin: originOf('instance-1', 'wf1'), names: 'none' } as const;
	await eventOutput(event, output, async () => await Promise.resolve(api));
	return paths;
}

test.each<[string, unknown, string[]]>([
	['contact.created', 'con_1', ['/v1/contacts/con_1']],
	['contact.created', 7, ['/v1/contacts/7']],
	['custom.cars.created', 'rec_1', ['/v1/custom-objects/cars/records/rec_1']],
	['contact.created', undefined, []],
	['account.changed', 'acc_1', []],
	['unknown.created', 'x_1', []],
])('the current record of %s with the ID %p is read from its collection', async (type, id, paths) => {
	expect(await pathsRead(type, { id } as IDataObject)).toEqual(paths);
});
