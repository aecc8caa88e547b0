import { randomUUID } from 'node:crypto';
import type { INode } from 'n8n-workflow';
import { type Move, startModel } from '../../demo/scripted-model.ts';
import { connectionTo, workflowNode as node } from '../../demo/workflow-node.ts';
import type { ToolNode, Toolset } from './dialects.ts';
import type { ToolsWorld } from './world.ts';

/** Where tools are used: it makes the calls and returns what the model reads. */
export interface Surface {
	name: string;
	/** Characters of the tools' descriptions, which go along with each message. */
	schemas(): number;
	run(calls: AsyncGenerator<Move, void, string>): Promise<void>;
	close(): Promise<void>;
}

const langchain = '@n8n/n8n-nodes-langchain';
const startNode = 'Start';
const agentNode = 'AI Agent';

const sandboxCredential: NonNullable<ToolNode['credential']> = { type: 'crmPlatformApi', data: (baseUrl) => ({ baseUrl, apiKey: 'KEY', descriptionUrl: '' }) };

async function toolNodes({ n8n, url }: ToolsWorld, { nodes }: Toolset): Promise<INode[]> {
	const definitions = nodes(url);
	const { type: credentialType, data } = definitions[0]?.credential ?? sandboxCredential;
	const id = await n8n.client.createCredential({ name: `Sandbox ${randomUUID()}`, type: credentialType, data: data(url) });
	return definitions.map(({ name, type, typeVersion = 1, parameters }) => node(name, type, typeVersion, parameters, { credentials: { [credentialType]: { id, name: 'Sandbox' } } }));
}

/** AI Agent with a scripted model behind OpenAI's interface: one execution per task. */
export async function agentSurface(world: ToolsWorld, toolset: Toolset, version: number): Promise<Surface> {
	const { client } = world.n8n;
	let calls: AsyncGenerator<Move, void, string> | undefined;
	let schemas = 0;
	const model = await startModel(async ({ tools, messages }) => {
		schemas = JSON.stringify(tools).length;
		const last = messages.at(-1);
		const { value } = await calls!.next(last?.role === 'tool' ? String(last.content) : '');
		return value ?? { say: 'Done.' };
	});
	const openAi = await client.createCredential({ name: `Model ${randomUUID()}`, type: 'openAiApi', data: { apiKey: 'any', url: model.url } });
	const tools = await toolNodes(world, toolset);
	const id = await client.createWorkflow({
		name: `${toolset.name} ${version}`,
		settings: { executionOrder: 'v1' },
		nodes: [
			node(startNode, 'n8n-nodes-base.manualTrigger', 1, {}),
			node(agentNode, `${langchain}.agent`, version, { promptType: 'define', text: 'Do it.', options: { maxIterations: 30 } }),
			node('Model', `${langchain}.lmChatOpenAi`, 1.2, { model: { __rl: true, mode: 'id', value: 'scripted' } }, { credentials: { openAiApi: { id: openAi, name: 'Model' } } }),
			...tools,
		],
		connections: {
			[startNode]: connectionTo(agentNode),
			Model: connectionTo(agentNode, 'ai_languageModel'),
			...Object.fromEntries(tools.map(({ name }) => [name, connectionTo(agentNode, 'ai_tool')])),
		},
	});
	return {
		name: `AI Agent ${version}`,
		schemas: () => schemas,
		async run(next) {
			calls = next;
			await client.runWorkflow(id, startNode);
			// A workflow that ended early did not request the rest.
			await next.return();
		},
		close: async () => await model.close(),
	};
}

/** MCP Server Trigger, called as an MCP client calls it. */
export async function mcpSurface(world: ToolsWorld, toolset: Toolset): Promise<Surface> {
	const { client, url } = world.n8n;
	const path = randomUUID();
	const tools = await toolNodes(world, toolset);
	const nodes = [node('MCP', `${langchain}.mcpTrigger`, 2, { path }, { webhookId: path }), ...tools];
	await client.activateWorkflow(await client.createWorkflow({ name: `MCP ${path}`, nodes, connections: Object.fromEntries(tools.map(({ name }) => [name, connectionTo('MCP', 'ai_tool')])) }));
	let session = '';
	let requests = 0;
	const call = async (method: string, params: object, isNotice = false): Promise<string> => {
		const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...(session && { 'mcp-session-id': session }) };
		const body = JSON.stringify({ jsonrpc: '2.0', method, params, ...(!isNotice && { id: ++requests }) });
		const response = await fetch(`${url}/mcp/${path}`, { method: 'POST', headers, body });
		session = response.headers.get('mcp-session-id') ?? session;
		return await response.text();
	};
	await call('initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
	await call('notifications/initialized', {}, true);
	const listed = await call('tools/list', {});
	return {
		name: 'MCP Server Trigger',
		schemas: () => listed.length,
		async run(calls) {
			for (let answer = ''; ; ) {
				const { value } = await calls.next(answer);
				if (!value || !('tool' in value)) return;
				answer = textIn(await call('tools/call', { name: value.tool, arguments: value.input }));
			}
		},
		close: async () => undefined,
	};
}

/** What an MCP client passes on to its model. */
function textIn(answer: string): string {
	const [, json = answer] = /^data: (.+)$/m.exec(answer) ?? [];
	const { result, error } = JSON.parse(json) as { result?: { content?: Array<{ text?: string }> }; error?: unknown };
	return result?.content?.map(({ text = '' }) => text).join('\n') ?? JSON.stringify({ error });
}
