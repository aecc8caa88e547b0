import { randomUUID } from 'node:crypto';

import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import { automatic, update, upsert } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { run } = nodeRuns(sandbox);

const upsertAll = async (items: IDataObject[], options: INodeParameters = {}) =>
	await run({ ...upsert('contact', 'email', { email: '={{ $json.email }}', last_name: 'Lovelace' }), options }, items);

const people = (count: number) =>
	Array.from({ length: count }, () => ({ email: `${randomUUID()}@outcome.example` }));

describe('Create or Update reports for each record whether it was', () => {
	test.each([['one by one', 1], ['in a batch', 0]])('created or updated, %s', async (_how, batchSize) => {
		const [existingPerson, ...others] = people(3);
		await upsertAll([existingPerson!], { batchSize });
		const { items } = await upsertAll([existingPerson!, ...others], { batchSize });
		expect(items.map(({ json }) => json.upsert_outcome)).toEqual(['updated', 'created', 'created']);
	});

	test('created, and a second write of its output neither sends that nor warns about it', async () => {
		const { items } = await upsertAll(people(1));
		const output = items[0]!.json;
		expect(output.upsert_outcome).toBe('created');
		const parameters = update('contact', String(output.id), automatic);
		const { items: updated, hints } = await run(parameters, [{ ...output, job_title: 'Pilot' }]);
		expect(updated[0]!.json).toMatchObject({ job_title: 'Pilot' });
		expect(updated[0]!.json).not.toHaveProperty('upsert_outcome');
		expect(hints).toEqual([]);
	});
});

test('an automatic mapping matches on the field that is chosen beside it', async () => {
	const external_id = randomUUID();
	const write = async (last_name: string) =>
		await run({ resource: 'contact', operation: 'upsert', ...automatic, fieldsMatchOn: 'external_id' }, [{ external_id, last_name }]);
	const first = (await write('Byron')).items[0]!.json;
	const second = (await write('Lovelace')).items[0]!.json;
	expect(second).toMatchObject({ id: first.id, last_name: 'Lovelace', upsert_outcome: 'updated' });
});
