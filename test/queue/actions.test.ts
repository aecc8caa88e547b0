import { sandboxCredential, theN8n } from '../e2e/harness/access.ts';
import { runNode } from '../e2e/harness/run-node.ts';
import { describeInQueueMode, doneByWorkers } from './harness/access.ts';

describeInQueueMode('In queue mode', () => {
	test('a worker runs the node', async () => {
		const n8n = theN8n();
		const credentialId = await n8n.createCredential(sandboxCredential());
		const parameters = { resource: 'contact', operation: 'getMany', limit: 10 };
		const { status, items, error } = await runNode(n8n, { credentialId, parameters });
		expect({ status, error }).toMatchObject({ status: 'success' });
		expect(items).toHaveLength(10);
		expect(doneByWorkers().flat()).toHaveLength(1);
	});
});
