import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { parse, stringify } from 'flatted';
import { ExecutionLifecycleHooks, WebhookContext, WorkflowExecute } from 'n8n-core';
import {
	Workflow,
	type IDataObject,
	type INode,
	type INodeType,
	type INodeTypes,
	type IRun,
	type IRunExecutionData,
	type IWebhookData,
	type IWebhookFunctions,
} from 'n8n-workflow';

import { workflowIn } from '../../../tools/node-context.ts';
import { toolsNode } from './agent-tools.ts';
import { parts, type Setup } from './node-runs.ts';

/** An execution that asks for approval, in n8n's own engine; n8n's endpoint for waiting executions is played here. */
export interface WaitingExecution {
	/** The input of the node after it; undefined while the execution waits. */
	output(): IDataObject[] | undefined;
	/** The output of the node after it, for each call. */
	outputs(): IDataObject[][];
	error(): Error | undefined;
	/** Whether it waits: while it runs, n8n refuses calls, and the CRM calls again. */
	isWaiting(): boolean;
	/** How often the execution has gone on. */
	resumed: number;
	/** The time is over. */
	expire(): Promise<void>;
	close(): Promise<void>;
}

const plain = (name: string, items?: IDataObject[]): INodeType => ({
	description: { displayName: name, name, group: [], version: 1, description: '', defaults: {}, inputs: ['main'], outputs: ['main'], properties: [] },
	execute() {
		return Promise.resolve([items?.map((json) => ({ json })) ?? this.getInputData()]);
	},
});

/**
 * @param type of the node, where it is not the plain one
 * @param reviewed a node whose calls it is the review of
 * @param calls how many times the node is called at once
 */
export async function askInExecution(setup: Setup, type?: string, reviewed?: Pick<INode, 'type' | 'parameters'>, calls = 1): Promise<WaitingExecution> {
	const { node: baseNode, additionalData } = workflowIn(parts, setup);
	const crm: INode = { ...baseNode, ...(type !== undefined && { type }) };
	const types: Record<string, INodeType> = { start: plain('start', setup.items ?? [{}]), end: plain('end'), [crm.type]: parts.node, ...(reviewed && { [reviewed.type]: toolsNode }) };
	const nodeTypes = { getByName: (name: string) => types[name], getByNameAndVersion: (name: string) => types[name], getKnownTypes: () => ({}) } as unknown as INodeTypes;
	const nodeOf = (name: string): INode => ({ ...baseNode, id: name, name, type: name, parameters: {}, credentials: {} });
	const workflowOf = () =>
		new Workflow({
			id: 'workflow-1',
			name: 'Discounts',
			nodes: [nodeOf('start'), structuredClone(crm), nodeOf('end'), ...(reviewed ? [{ ...crm, id: 'reviewed', name: 'Reviewed', ...reviewed }] : [])],
			connections: { ...(reviewed && { Reviewed: { ai_tool: [[{ node: crm.name, type: 'ai_tool' as const, index: 0 }]] } }), start: { main: [Array.from({ length: calls }, () => ({ node: crm.name, type: 'main' as const, index: 0 }))] }, [crm.name]: { main: [[{ node: 'end', type: 'main', index: 0 }]] } },
			active: true,
			nodeTypes,
			settings: { executionOrder: 'v1' },
		});
	let stored: IRun;
	let isRunning = false;
	const server: Server = createServer((request, response) => void serve(request, response));
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	Object.assign(additionalData, { webhookWaitingBaseUrl: `${base}/webhook-waiting` });
	const hooksOf = (workflow: Workflow) => new ExecutionLifecycleHooks('webhook', additionalData.executionId!, workflow as never);
	const goOn = async (data: IRunExecutionData) => {
		execution.resumed += 1;
		const workflow = workflowOf();
		additionalData.hooks = hooksOf(workflow);
		isRunning = true;
		stored = await new WorkflowExecute(additionalData, 'webhook', data).processRunExecutionData(workflow).finally(() => (isRunning = false));
	};
	/** The execution's data as n8n stores it in its database. */
	const data = (): IRunExecutionData => parse(stringify(stored.data)) as IRunExecutionData;

	async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const rawBody = await buffer(request);
		if (stored?.data.waitTill === undefined) {
			response.writeHead(stored && !isRunning ? 200 : 409).end('No action required');
			return;
		}
		const runData = data();
		runData.executionData!.nodeExecutionStack[0]!.node.disabled = true;
		const workflow = workflowOf();
		const webhookDescription = parts.node.description.webhooks!.find(({ httpMethod }) => httpMethod === request.method)!;
		const context = new WebhookContext(
			workflow, workflow.getNode(crm.name)!, { ...additionalData, httpRequest: Object.assign(request, { rawBody }) as never, httpResponse: response as never }, 'webhook', { webhookDescription } as IWebhookData, [], runData,
		);
		context.logger.error = () => undefined;
		const { noWebhookResponse, webhookResponse, workflowData } = await parts.node.webhook!.call(context as unknown as IWebhookFunctions);
		if (workflowData && stored.data.waitTill !== undefined) {
			delete stored.data.waitTill;
			runData.executionData!.nodeExecutionStack[0]!.data.main = workflowData;
			await goOn(runData);
		}
		if (!noWebhookResponse) response.writeHead(200).end(webhookResponse as string);
	}

	const execution: WaitingExecution = {
		resumed: 0,
		isWaiting: () => stored.data.waitTill !== undefined,
		error: () => stored.data.resultData.error,
		output: () => execution.outputs()[0],
		outputs: () => (stored.data.waitTill === undefined ? (stored.data.resultData.runData.end ?? []).map(({ data }) => data?.main?.[0]?.map(({ json }) => json) ?? []) : []),
		expire: async () => await goOn(data()),
		async close() {
			server.closeAllConnections();
			server.close();
			await once(server, 'close');
		},
	};

	const workflow = workflowOf();
	additionalData.hooks = hooksOf(workflow);
	stored = await new WorkflowExecute(additionalData, 'webhook').run({ workflow, startNode: workflow.getNode('start')! });
	return execution;
}
