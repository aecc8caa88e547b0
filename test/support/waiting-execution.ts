import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { parse, stringify } from 'flatted';
import { ExecutionLifecycleHooks, WebhookContext, WorkflowExecute } from 'n8n-core';
import {
	Workflow,
	type IDataObject,
	type INode,
	type INodeType,
	type IRun,
	type IRunExecutionData,
	type IWebhookData,
	type IWebhookFunctions,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';

import { nodeType } from './engine-agent.ts';
import { nodeTypesOf, workflowIn } from './node-context.ts';
import { startLocalServer, type LocalServer } from './local-server.ts';
import { toolsNode } from './agent-tools.ts';
import { parts, type Setup } from './node-runs.ts';

/** A node whose calls another node reviews. */
type ReviewedNode = Pick<INode, 'type' | 'parameters'>;

/**
 * @param type the node's type, by default that of CRM Platform
 * @param reviewed the node whose calls it reviews
 * @param calls how many calls the node gets at once
 */
export async function askInExecution(setup: Setup, type?: string, reviewed?: ReviewedNode, calls = 1): Promise<WaitingExecution> {
	const { node: baseNode, additionalData } = workflowIn(parts, setup);
	const crm: INode = { ...baseNode, ...(type !== undefined && { type }) };
	const execution = new WaitingExecution(workflowsWith(crm, baseNode, setup, reviewed, calls), crm.name, additionalData);
	await execution.start();
	return execution;
}

/** @returns creates the workflow again, as n8n does when it loads an execution */
function workflowsWith(crm: INode, baseNode: INode, setup: Setup, reviewed: ReviewedNode | undefined, calls: number): () => Workflow {
	const types: Record<string, INodeType> = {
		start: nodeType('start', async () => [(setup.items ?? [{}]).map((json) => ({ json }))]),
		end: nodeType('end', async (n8n) => [n8n.getInputData()]),
		[crm.type]: parts.node,
		...(reviewed && { [reviewed.type]: toolsNode }),
	};
	const nodeOf = (name: string): INode => ({ ...baseNode, id: name, name, type: name, parameters: {}, credentials: {} });
	const reviewedNodes = reviewed ? [{ ...crm, id: 'reviewed', name: 'Reviewed', ...reviewed }] : [];
	const toCrm = Array.from({ length: calls }, () => ({ node: crm.name, type: 'main' as const, index: 0 }));
	return () =>
		new Workflow({
			id: 'workflow-1',
			name: 'Discounts',
			nodes: [nodeOf('start'), structuredClone(crm), nodeOf('end'), ...reviewedNodes],
			connections: {
				...(reviewed && { Reviewed: { ai_tool: [[{ node: crm.name, type: 'ai_tool' as const, index: 0 }]] } }),
				start: { main: [toCrm] },
				[crm.name]: { main: [[{ node: 'end', type: 'main', index: 0 }]] },
			},
			active: true,
			nodeTypes: nodeTypesOf((name) => types[name]!),
			settings: { executionOrder: 'v1' },
		});
}

/** An execution that asks for approval, in n8n's own engine, with a stand-in for n8n's endpoint for waiting executions. */
export class WaitingExecution {
	/** How often the CRM has called. */
	calls = 0;
	/** How often the execution has continued. */
	resumed = 0;
	private stored: IRun | undefined;
	private isRunning = false;
	private readonly workflow: () => Workflow;
	private readonly nodeName: string;
	private readonly additionalData: IWorkflowExecuteAdditionalData;
	private server!: LocalServer;

	constructor(workflow: () => Workflow, nodeName: string, additionalData: IWorkflowExecuteAdditionalData) {
		this.workflow = workflow;
		this.nodeName = nodeName;
		this.additionalData = additionalData;
	}

	async start(): Promise<void> {
		this.server = await startLocalServer((request, response) => void this.serve(request, response));
		Object.assign(this.additionalData, { webhookWaitingBaseUrl: `${this.server.url}/webhook-waiting` });
		const workflow = this.workflow();
		this.setHooks(workflow);
		this.stored = await new WorkflowExecute(this.additionalData, 'webhook').run({ workflow, startNode: workflow.getNode('start')! });
	}

	/** Whether it waits: while it runs, n8n refuses calls, and the CRM calls again. */
	isWaiting(): boolean {
		return this.stored!.data.waitTill !== undefined;
	}

	error(): Error | undefined {
		return this.stored!.data.resultData.error;
	}

	/** The input of the node after it; undefined while the execution waits. */
	output(): IDataObject[] | undefined {
		return this.outputs()[0];
	}

	/** The output of the node after it, for each call. */
	outputs(): IDataObject[][] {
		if (this.isWaiting()) return [];
		const runs = this.stored!.data.resultData.runData.end ?? [];
		return runs.map(({ data }) => data?.main?.[0]?.map(({ json }) => json) ?? []);
	}

	/** Lets the time limit pass. */
	async expire(): Promise<void> {
		await this.resume(this.storedData());
	}

	/** Repeats the failed execution in another one, as n8n does (n8n 2.41, ExecutionService.retry). */
	async retry(): Promise<void> {
		const data = this.storedData();
		data.resultData.runData[this.nodeName]!.pop();
		delete data.resultData.error;
		this.additionalData.executionId = randomUUID();
		await this.resume(data);
	}

	async close(): Promise<void> {
		await this.server.close();
	}

	private setHooks(workflow: Workflow): void {
		this.additionalData.hooks = new ExecutionLifecycleHooks('webhook', this.additionalData.executionId!, workflow as never);
	}

	/** The execution's data as n8n stores it in its database. */
	private storedData(): IRunExecutionData {
		return parse(stringify(this.stored!.data)) as IRunExecutionData;
	}

	private async resume(data: IRunExecutionData): Promise<void> {
		this.resumed += 1;
		const workflow = this.workflow();
		this.setHooks(workflow);
		this.isRunning = true;
		const run = new WorkflowExecute(this.additionalData, 'webhook', data).processRunExecutionData(workflow);
		this.stored = await run.finally(() => (this.isRunning = false));
	}

	private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const rawBody = await buffer(request);
		if (request.method === 'POST') this.calls += 1;
		if (this.stored?.data.waitTill === undefined) {
			response.writeHead(this.stored && !this.isRunning ? 200 : 409).end('No action required');
			return;
		}
		const runData = this.storedData();
		runData.executionData!.nodeExecutionStack[0]!.node.disabled = true;
		const workflow = this.workflow();
		const webhookDescription = parts.node.description.webhooks!.find(({ httpMethod }) => httpMethod === request.method)!;
		const context = new WebhookContext(
			workflow,
			workflow.getNode(this.nodeName)!,
			{ ...this.additionalData, httpRequest: Object.assign(request, { rawBody }) as never, httpResponse: response as never },
			'webhook',
			{ webhookDescription } as IWebhookData,
			[],
			runData,
		);
		context.logger.error = () => undefined;
		const { noWebhookResponse, webhookResponse, workflowData } = await parts.node.webhook!.call(context as unknown as IWebhookFunctions);
		if (workflowData && this.stored.data.waitTill !== undefined) {
			delete this.stored.data.waitTill;
			runData.executionData!.nodeExecutionStack[0]!.data.main = workflowData;
			await this.resume(runData);
		}
		if (!noWebhookResponse) response.writeHead(200).end(webhookResponse as string);
	}
}
