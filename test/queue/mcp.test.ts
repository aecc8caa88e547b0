import { randomUUID } from 'node:crypto';
import type { INode } from 'n8n-workflow';
import { sandboxCredential, theN8n } from '../e2e/harness/access.ts';
import { mcpClient } from '../e2e/harness/mcp.ts';
import { callSandbox } from '../e2e/harness/sandbox-calls.ts';
import { describeInQueueMode, theQueue } from './harness/queue-access.ts';

describeInQueueMode('MCP Server Trigger in queue mode', () => {
	test('a client reads, and writes once with its token, whichever process handles the call', async () => {
		const n8n = theN8n();
		const path = randomUUID();
		const crm = { crmPlatformApi: { id: await n8n.createCredential(sandboxCredential()), name: 'Sandbox' } };
		const node = (name: string, type: string, typeVersion: number, parameters: INode['parameters'], more: Partial<INode>): INode => ({ id: randomUUID(), name, type, typeVersion, position: [0, 0], parameters, ...more });
		const nodes = [
			node('MCP', '@n8n/n8n-nodes-langchain.mcpTrigger', 2, { path }, { webhookId: path }),
			node('CRM', 'n8n-nodes-crm-platform.crmPlatformTools', 1, { writes: ['create'] }, { credentials: crm }),
		];
		await n8n.activateWorkflow(await n8n.createWorkflow({ name: `MCP ${path}`, nodes, connections: { CRM: { ai_tool: [[{ node: 'MCP', type: 'ai_tool', index: 0 }]] } } }));
		const client = mcpClient(path, undefined, theQueue().webhookUrls);

		expect([...(await client.listTools()).matchAll(/"name":"(crm_\w+)"/g)]).toHaveLength(5);
		expect(await client.call('crm_search', { kind: 'contact', limit: 1 })).toMatch(/con_\w+/);
		const creation = { kind: 'contact', action: 'create', values: { email: `${path}@example.com` } };
		const preview = await client.call('crm_change', creation);
		expect(preview).toMatch(/Nothing is written yet/);
		const token = /token[\\":]+([\w.-]+)/.exec(preview)![1];
		expect(await client.call('crm_change', { ...creation, token })).toContain(path);
		for (let i = 0; i < 2; i++) expect(await client.call('crm_change', { ...creation, token })).toMatch(/already written, so it was not written again/);
		expect((await callSandbox('GET', `/v1/contacts?email=${path}@example.com`)).body.total).toBe(1);
	}, 120_000);
});
