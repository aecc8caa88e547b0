import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { run as runNode, type Setup } from './n8n.ts';
import { get, mapped, on } from './parameters.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox();
const run = async (parameters: INodeParameters, more: Partial<Setup> = {}) =>
	(await runNode({ credential: sandbox.credential, parameters, ...more })).items;

const startImport = {
	resource: 'job',
	operation: 'startImport',
	fields: mapped({ resource: 'contacts', operation: 'create' }),
} as INodeParameters;

const startExport = {
	resource: 'job',
	operation: 'startExport',
	fields: mapped({ resource: 'companies' }),
} as INodeParameters;

const resultsOf = async (id: unknown): Promise<IDataObject[]> =>
	(await run(on('job', 'getResults', id, { wait: true }))).map(({ json }) => json);

describe('an import', () => {
	const items = (count: number) =>
		Array.from({ length: count }, (_, i) => ({ email: `import-${i}@jobs.example` }));

	test('takes all items into the background, and gives the result of each', async () => {
		const [started] = await run(startImport, { items: items(30) });
		expect(started?.json).toMatchObject({ object: 'job', total: 30 });
		const results = await resultsOf(started?.json.id);
		expect(results.map(({ index, status }) => [index, status])).toEqual(
			items(30).map((_, i) => [i, 201]),
		);
		const [job] = await run(get('job', String(started?.json.id)));
		expect(job?.json).toMatchObject({ status: 'completed' });
	});

	test('is one result, linked to all its items', async () => {
		const started = await run(startImport, { items: items(3) });
		expect(started.map(({ pairedItem }) => pairedItem)).toEqual([
			[{ item: 0 }, { item: 1 }, { item: 2 }],
		]);
	});

	test('is set by hand and by nothing else, as its items are the records', () => {
		const asked = new CrmPlatform().description.properties.filter(({ displayOptions }) => {
			const { resource, operation } = displayOptions?.show ?? {};
			return resource?.includes('job') && operation?.includes('startImport');
		});
		expect(asked.map(({ name }) => name)).toEqual(['fields', 'options']);
		expect(asked[0]?.typeOptions?.resourceMapper).toMatchObject({ supportAutoMap: false });
	});

	test('that cannot start fails the node, which says that no item was done', async () => {
		await sandbox.faults({ path: '/v1/jobs', method: 'POST', status: 403 });
		await expect(run(startImport, { items: items(2) })).rejects.toMatchObject({
			httpCode: '403',
			description: expect.stringMatching(/Of 2 items, 0 succeeded, 2 failed \(0, 1\)/),
		});
	});

	test('that cannot start is one error of all its items, where the node is to go on', async () => {
		await sandbox.faults({ path: '/v1/jobs', method: 'POST', status: 403 });
		const failed = await run(startImport, { items: items(2), continueOnFail: true });
		expect(failed).toMatchObject([
			{ json: { details: { status: 403 } }, pairedItem: [{ item: 0 }, { item: 1 }] },
		]);
	});
});

test('an export gives all records of a kind', async () => {
	const [started] = await run(startExport);
	const records = await resultsOf(started?.json.id);
	const { body } = await sandbox.call('GET', '/v1/companies?limit=500');
	const companies = body.data as IDataObject[];
	expect(records.map(({ id }) => id).sort()).toEqual(companies.map(({ id }) => id).sort());
});
