import { resources } from '../../../sandbox/core/schemas/index.ts';
import { hasCustomFields } from '../../../sandbox/core/schemas/resource.ts';
import { createFixtures, type Fixtures, recordWritesOf, valuesOf } from '../harness/record-writes.ts';
import { errorsOf, inProcess, type InProcess, type Json } from '../harness/in-process.ts';

/** Names that every JavaScript object has a value for. */
const inherited = [
	...Object.getOwnPropertyNames(Object.prototype),
	...Object.getOwnPropertyNames(Array.prototype).filter((name) => name.length > 3),
];
const asKeys = ['constructor', 'valueof', 'length'];

let sandbox: InProcess;
let fixtures: Fixtures;
beforeAll(async () => {
	sandbox = inProcess();
	fixtures = await createFixtures(sandbox);
});

test.each(resources.map(({ name }) => name))('no name inherited by objects causes an internal error: %s', async (name) => {
	const resource = resources.find((candidate) => candidate.name === name)!;
	const { post, patch, get } = sandbox;
	const path = `/v1/${name}`;
	const { body: record } = await post(path, valuesOf(resource, fixtures));
	const faults: string[] = [];
	const look = (attempt: string, { status }: { status: number }, isRefused = true) => {
		if (status >= 500 || (isRefused && status < 400)) faults.push(`${attempt}: ${status}`);
	};
	for (const inheritedName of inherited) {
		const hostile = `{"${inheritedName}": "x"}`;
		look(`${inheritedName} in a body`, await patch(`${path}/${record.id}`, hostile));
		if (hasCustomFields(resource)) {
			look(`${inheritedName} in custom fields`, await patch(`${path}/${record.id}`, `{"custom_fields": ${hostile}}`));
		}
		for (const query of [`${inheritedName}=x`, `sort=${inheritedName}`, `fields=${inheritedName}`, `custom_fields.${inheritedName}=x`]) {
			look(query, await get(`${path}?${query}`));
		}
		look('match_on', await sandbox.put(`${path}?match_on=${inheritedName}`, { [inheritedName]: 'x' }));
		look('an id', await get(`${path}/${inheritedName}`));
		look('an id in a batch', await post(`${path}/batch/update`, { items: [{ id: inheritedName }] }), false);
	}
	for (const write of recordWritesOf(resource, fixtures)) look(write.name, await sandbox.send(...write.request(record.id)), false);
	expect(faults).toEqual([]);
});

test.each(asKeys)('a custom field called %s accepts values, and can be cleared, required, unique and a filter', async (key) => {
	const { post, patch, get } = sandbox;
	const field = { resource: 'deals', key, label: 'x', type: 'text', unique: true };
	const { body: definition } = await post('/v1/custom-fields', field);
	const { body, status } = await post('/v1/deals', { title: 'x', custom_fields: { [key]: 'one' } });
	expect([status, body.custom_fields]).toEqual([201, { [key]: 'one' }]);
	expect((await get(`/v1/deals?custom_fields.${key}=one`)).body.total).toBe(1);
	const again = await post('/v1/deals', { title: 'y', custom_fields: { [key]: 'one' } });
	expect(again.body.code).toBe('duplicate');
	const match = await sandbox.put(`/v1/deals?match_on=custom_fields.${key}`, { custom_fields: { [key]: 'one' } });
	expect(match.status).toBe(200);
	const cleared = await patch(`/v1/deals/${body.id}`, { custom_fields: { [key]: null } });
	expect([cleared.status, cleared.body.custom_fields]).toEqual([200, {}]);
	const [event] = (await get('/v1/events?sort=-sequence&type=deal.updated')).body.data;
	expect(event.data.previous.custom_fields).toEqual({ [key]: 'one' });
	await patch(`/v1/custom-fields/${definition.id}`, { required: true });
	expect(errorsOf(await post('/v1/deals', { title: 'z' }))).toEqual({ [`/custom_fields/${key}`]: 'required' });
	await sandbox.delete(`/v1/custom-fields/${definition.id}`);
});

test('more event patterns than a subscription accepts are refused', async () => {
	const response: Json = await sandbox.get(`/v1/events?type=${Array(1500).fill('*').join()}`);
	expect([response.status, errorsOf(response)]).toEqual([400, { type: 'invalid_parameter' }]);
	expect((await sandbox.get(`/v1/events?type=${Array(100).fill('*').join()}`)).status).toBe(200);
});
