import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { searchLinked } from '../../nodes/CrmPlatform/pickers/searchPickers';
import { nodeRuns, picker } from '../support/node-runs.ts';
import { byId, create, on } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { run } = nodeRuns(sandbox);

const done = async (parameters: IDataObject, item: IDataObject = {}) =>
	await run(parameters, [item]);

test.each([
	['its id', (id: unknown) => byId(String(id)), {}],
	['an expression in its place', () => byId('={{ $json.id }}'), 'item'],
	['an expression for all of it', () => '={{ $json.id }}', 'item'],
	['an expression that gives all of it', () => '={{ $json.picked }}', 'item'],
])('a record is picked by %s', async (_, picked, item) => {
	const { id } = await sandbox.first('contacts');
	const parameters = { ...on('contact', 'get', ''), recordId: picked(id) };
	const { items } = await done(parameters, item === 'item' ? { id, picked: byId(id) } : {});
	expect(items[0]?.json).toMatchObject({ id });
});

describe('a linked record', () => {
	const rows = (...picks: Array<[field: unknown, record: unknown]>) => ({
		fieldsLinked: { records: picks.map(([field, record]) => ({ field, record })) },
	});
	const adding = (...picks: Array<[field: unknown, record: unknown]>) => ({
		...create('contact', { last_name: 'Lovelace' }),
		...rows(...picks),
	});

	test('that is blank is left out', async () => {
		const { items } = await done(adding(['company_id', null], ['owner_id', byId('')]));
		expect(items[0]?.json).toMatchObject({ company_id: null });
	});

	test('is a stage of any pipeline if an expression chooses it', async () => {
		const { results } = await picker(
			searchLinked,
			{
				credential: sandbox.credential,
				parameters: {
					resource: 'deal',
					operation: 'create',
					...rows(['stage_id', byId('')], ['pipeline_id', byId('={{ $json.pipeline }}')]),
				} as INodeParameters,
				path: 'parameters.fieldsLinked.records[0].record',
			},
			undefined,
			undefined,
		);
		expect(results.length).toBeGreaterThan(0);
	});
});
