import { ofSandbox, theN8n } from '../harness/access.ts';
import { fromInput, resources } from '../harness/resources.ts';
import { runN8nNode } from '../harness/run-n8n-node.ts';
import { callSandbox, clearFaults, setFaults } from '../harness/sandbox-calls.ts';

describe.each(resources)('In a real n8n, creating a $value,', (resource) => {
	const { value, path, key, newKey, required } = resource;

	afterEach(clearFaults);

	test.each([
		['the CRM is unavailable at first', { status: 503 }],
		['the response is lost', { drop: 'after' }],
	])('writes the record once when %s', async (_what, fault) => {
		const n8n = theN8n();
		const parameters = { resource: value, operation: 'create', simplify: false, fields: fromInput };
		const input = [{ ...required, [key]: newKey() }];
		await setFaults({ path, method: 'POST', times: 1, ...fault });

		const { status, items } = await runN8nNode(n8n, { credentials: await ofSandbox(), parameters, input });

		expect(status).toBe('success');
		const { body } = await callSandbox('GET', `${path}?${key}=${input[0]?.[key]}`);
		expect(body.data).toEqual(items.map(({ json }) => json));
		const faults = await callSandbox('GET', '/_sandbox/faults');
		expect(faults.body).toMatchObject([{ hits: 1 }]);
	});
});
