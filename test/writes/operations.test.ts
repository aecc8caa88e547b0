import { nodeRuns } from '../support/node-runs.ts';
import { update, upsert } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { run, failure } = nodeRuns(sandbox);

test('the field to match on must have a value', async () => {
	const { message } = await failure(upsert('contact', 'email', { first_name: 'Ada' }));
	expect(message).toContain('The field to match on, email, has no value');
});

describe('an item for which the expression of the record returns nothing', () => {
	const items = async () => [{ id: (await sandbox.create('companies', { name: 'Altamira' })).id }, { id: null }, {}];

	test.each(['update', 'get', 'delete'])('fails in %s, with what to do', async (operation) => {
		const parameters = { ...update('company', '={{ $json.id }}', { name: 'New' }), operation };
		const { items: outputs } = await run(parameters, await items(), { continueOnFail: true });
		const failed: unknown = expect.stringMatching(/expression returned nothing.*If Empty/);
		expect(outputs.map(({ json }) => json.error)).toEqual([undefined, failed, failed]);
	});

	test.each(['update', 'get', 'delete'])('is skipped in %s with If Empty, and has no output', async (operation) => {
		const parameters = { ...update('company', '={{ $json.id }}', { name: 'New' }), operation, options: { ifEmpty: 'skip' } };
		const { items: outputs, hints } = await run(parameters, await items());
		expect(outputs).toMatchObject([{ pairedItem: { item: 0 } }]);
		expect(hints).toEqual(['At least one item was skipped: the expression of its record returned nothing (If Empty).']);
	});
});
