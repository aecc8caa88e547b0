import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import { automatic, create, getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const { run } = nodeRuns(sandbox);

test.each<[string, (id: string) => IDataObject]>([
	['is', (id) => ({ value: `${id}\n` })],
	['is', (id) => ({ value: ` ${id}` })],
	['is', (id) => ({ value: ` id:${id} ` })],
	['isOneOf', (id) => ({ value: [` ${id}`, 'com_00000000000000000000000000'] })],
	['isRecord', (id) => ({ record: { __rl: true, mode: 'name', value: `${id}\t` } })],
	['isOneOfChoices', (id) => ({ choices: [` ${id} `] })],
])('an ID with white space around it is the ID: %s', async (operator, valueOf) => {
	const { id } = await sandbox.create('companies', { name: 'Spacious' });
	await sandbox.create('contacts', { last_name: 'A', company_id: id });
	const rows = [{ field: 'company_id', operator, ...valueOf(id) }];
	const parameters = { ...getMany('contact'), filters: { rows } } as INodeParameters;
	expect((await run(parameters)).items).toHaveLength(1);
});

test('a link is written without the white space around its ID, and white space alone is not an ID', async () => {
	const { id } = await sandbox.create('companies', { name: 'Roomy' });
	const items = [{ last_name: 'A', company_id: ` ${id}\n` }, { last_name: 'B', company_id: ' ' }];
	const parameters = { ...create('contact', automatic), options: { emptyCells: 'clear' } } as INodeParameters;
	const { items: writtenItems } = await run(parameters, items);
	expect(writtenItems.map(({ json }) => json.company_id)).toEqual([id, null]);
});
