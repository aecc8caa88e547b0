import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { INode } from 'n8n-workflow';
import { connectionTo, workflowNode } from '../../../demo/workflow-node.ts';
import { theN8n, theWorld } from './access.ts';

/** The part of the SDK's client that is used here. */
interface SdkClient {
	connect(transport: unknown): Promise<void>;
	listTools(): Promise<object>;
	callTool(request: object): Promise<object>;
	close(): Promise<void>;
}

const clients: SdkClient[] = [];

afterEach(async () => {
	for (const client of clients.splice(0)) await client.close();
});

/**
 * Publishes a workflow that offers a node to MCP clients as a tool.
 *
 * @returns the path of its trigger
 */
export async function publishTool(tool: INode): Promise<string> {
	const n8n = theN8n();
	const path = randomUUID();
	const nodes = [workflowNode('MCP', '@n8n/n8n-nodes-langchain.mcpTrigger', 2, { path }, { webhookId: path }), tool];
	const connections = { [tool.name]: connectionTo('MCP', 'ai_tool') };
	await n8n.activateWorkflow(await n8n.createWorkflow({ name: `MCP ${path}`, nodes, connections }));
	return path;
}

/**
 * The client of the protocol's own SDK, from the folder of the running n8n. It returns responses as text.
 *
 * @param path the path of the trigger in a published workflow
 * @param token the token of its Bearer Auth, if it has one
 * @param urls the processes that get the requests, in turn
 */
export function mcpClient(path: string, token?: string, urls = [theWorld().n8nUrl]) {
	const { n8nFolder } = theWorld();
	let requests = 0;
	const inTurns = async (url: string | URL, init?: RequestInit) =>
		await fetch(new URL(new URL(url).pathname, urls[requests++ % urls.length]), init);
	let connecting: Promise<SdkClient> | undefined;
	const connect = async (): Promise<SdkClient> => {
		const load = createRequire(join(n8nFolder, 'package.json'));
		const { Client } = load('@modelcontextprotocol/sdk/client/index.js') as { Client: new (info: object) => SdkClient };
		const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js') as {
			StreamableHTTPClientTransport: new (url: URL, options: object) => unknown;
		};
		const client = new Client({ name: 'test', version: '1' });
		clients.push(client);
		const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
		await client.connect(new StreamableHTTPClientTransport(new URL(`${urls[0]}/mcp/${path}`), { requestInit: { headers }, fetch: inTurns }));
		return client;
	};
	const connected = async () => await (connecting ??= connect());
	return {
		listTools: async () => JSON.stringify(await (await connected()).listTools()),
		call: async (name: string, input: object) => JSON.stringify(await (await connected()).callTool({ name, arguments: input })),
	};
}
