import { nodeRuns } from '../support/node-runs.ts';
import { automatic, create, on } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const { run } = nodeRuns(sandbox);

describe('an option left from another operation, which the form no longer shows, has no effect', () => {
	test('Empty Cells of an update, in Create', async () => {
		const parameters = { ...create('contact', automatic), options: { emptyCells: 'clear' } };
		const { items } = await run(parameters, [{ last_name: 'Kept', custom_fields: '' }]);
		expect(items).toMatchObject([{ json: { last_name: 'Kept' } }]);
	});

	test.each([
		['Batch Size', { batchSize: '={{ "all" }}' }],
		['Write Once Per', { writeOncePer: '={{ undefined }}' }],
	])('%s of Create, in an action', async (_name, options) => {
		const { id } = await sandbox.create('deals', { title: 'Open' });
		const { items } = await run({ ...on('deal', 'win', id), options });
		expect(items).toMatchObject([{ json: { id, status: 'won' } }]);
	});
});
