import { ofSandbox, theN8n } from '../harness/access.ts';
import { byId } from '../../support/parameters.ts';
import { runN8nNode } from '../harness/run-n8n-node.ts';
import { createRecord } from '../harness/sandbox-calls.ts';

describe('In a real n8n, a record that does not exist', () => {
	const missing = 'con_00000000000000000000000000';
	const parameters = {
		resource: 'contact',
		operation: 'get',
		recordId: byId('={{ $json.id }}'),
		simplify: false,
	};
	const n8n = theN8n();

	test('fails the execution with an error that names what is missing', async () => {
		const { status, error } = await runN8nNode(n8n, { credentials: await ofSandbox(), parameters, input: [{ id: missing }] });

		expect(status).toBe('error');
		expect(`${error?.message} ${error?.description}`).toContain(missing);
	});

	test('is one item among the others when the node continues on fail', async () => {
		const record = await createRecord('/v1/contacts', { last_name: 'Okafor' });
		const input = [{ id: missing }, { id: record.id }];
		const onError = 'continueRegularOutput';

		const { status, items } = await runN8nNode(n8n, { credentials: await ofSandbox(), parameters, input, onError });

		expect(status).toBe('success');
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
		expect(items[0]?.json).toEqual({
			error: expect.any(String),
			message: expect.any(String),
			details: expect.objectContaining({}),
		});
		expect(items[1]?.json).toEqual(record);
	});
});
