import { ofSandbox, theN8n } from '../harness/access.ts';
import { calledWorkflow, triggerName, workflowWith } from '../harness/run-n8n-node.ts';
import { describeInQueueMode, doneByWorkers, theQueue } from './harness/queue-access.ts';

describeInQueueMode('In queue mode', () => {
	const few = { resource: 'contact', operation: 'getMany', limit: 2 };

	test('a worker runs executions that a user starts by hand', async () => {
		const n8n = theN8n();
		const id = await n8n.createWorkflow(workflowWith({ credentials: await ofSandbox(), parameters: few }));

		const { status } = await n8n.runWorkflow(id, triggerName);

		expect(status).toBe('success');
		const ids = await n8n.listExecutions(id);
		expect(ids).toHaveLength(1);
		expect((await doneByWorkers(ids)).flat()).toEqual(ids);
	});

	test('workers run executions that start from outside, whichever process has received the request', async () => {
		const n8n = theN8n();
		const { workflow, path } = calledWorkflow({ credentials: await ofSandbox(), parameters: few });
		const id = await n8n.createWorkflow(workflow);
		await n8n.activateWorkflow(id);

		const { webhookUrls } = theQueue();
		const calls = [...webhookUrls, ...webhookUrls].map((url) => fetch(`${url}/webhook/${path}`));
		const responses = await Promise.all(calls);

		for (const response of responses) expect(await response.json()).toHaveLength(2);
		const ids = await n8n.listExecutions(id);
		expect(ids).toHaveLength(responses.length);
		expect((await doneByWorkers(ids)).flat().sort()).toEqual(ids.sort());
	});
});
