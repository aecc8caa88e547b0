import { sandboxCredential, theN8n } from './harness/access.ts';
import { fromInput, resources } from './harness/resources.ts';
import { runNode } from './harness/run-node.ts';
import { callSandbox } from './harness/sandbox-calls.ts';

describe.each(resources)('In a real n8n, creating a $value,', (resource) => {
	const { value, path, key, newKey, required } = resource;

	afterEach(async () => {
		await callSandbox('PUT', '/_sandbox/faults', []);
	});

	test.each([
		['the CRM is unavailable at first', { status: 503 }],
		['the answer is lost on its way', { drop: 'after' }],
	])('writes the record once when %s', async (_what, fault) => {
		const n8n = theN8n();
		const credentialId = await n8n.createCredential(sandboxCredential());
		const parameters = { resource: value, operation: 'create', simplify: false, fields: fromInput };
		const input = [{ ...required, [key]: newKey() }];
		await callSandbox('PUT', '/_sandbox/faults', [{ path, method: 'POST', times: 1, ...fault }]);

		const { status, items } = await runNode(n8n, { credentialId, parameters, input });

		expect(status).toBe('success');
		const { body } = await callSandbox('GET', `${path}?${key}=${input[0]?.[key]}`);
		expect(body.data).toEqual(items.map(({ json }) => json));
		const faults = await callSandbox('GET', '/_sandbox/faults');
		expect(faults.body).toMatchObject([{ hits: 1 }]);
	});
});
