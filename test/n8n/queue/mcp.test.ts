import { workflowNode } from '../../../demo/workflow-node.ts';
import { ofSandbox } from '../harness/access.ts';
import { mcpClient, publishTool } from '../harness/mcp.ts';
import { callSandbox } from '../harness/sandbox-calls.ts';
import { tokenIn } from '../harness/tool-answers.ts';
import { describeInQueueMode, theQueue } from './harness/queue-access.ts';

describeInQueueMode('MCP Server Trigger in queue mode', () => {
	test('a client reads, and writes once with its token, whichever process handles the call', async () => {
		const credentials = await ofSandbox();
		const path = await publishTool(
			workflowNode('CRM', 'n8n-nodes-crm-platform.crmPlatformTools', 1, { writes: ['create'] }, { credentials }),
		);
		const client = mcpClient(path, undefined, theQueue().webhookUrls);

		expect([...(await client.listTools()).matchAll(/"name":"(crm_\w+)"/g)]).toHaveLength(5);
		expect(await client.call('crm_search', { kind: 'contact', limit: 1 })).toMatch(/con_\w+/);
		const creation = { kind: 'contact', action: 'create', values: { email: `${path}@example.com` } };
		const preview = await client.call('crm_change', creation);
		expect(preview).toMatch(/Nothing is written yet/);
		const token = tokenIn(preview);
		expect(await client.call('crm_change', { ...creation, token })).toContain(path);
		for (let i = 0; i < 2; i++)
			expect(await client.call('crm_change', { ...creation, token })).toMatch(/already written, so it was not written again/);
		expect((await callSandbox('GET', `/v1/contacts?email=${path}@example.com`)).body.total).toBe(1);
	}, 120_000);
});
