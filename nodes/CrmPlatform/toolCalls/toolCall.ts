import { NodeOperationError, type IExecuteFunctions, type INode } from 'n8n-workflow';

import { sha256 } from '../base/digest';
import { RecentMap } from '../base/maps';
import type { Execution } from '../model';
import { isToolCall } from '../api/toolNode';
import { argumentsOf, readsItem } from './toolArguments';
import { nodeContext, runIdentity } from '../writing/runState';

/**
 * A call of the node by an AI agent or an MCP client, identified by its arguments: n8n's run index differs
 * between attempts at a call, and may be the same for the calls of an agent that works on several items at once.
 */
export interface ToolCall {
	/** Equal for all attempts at the call until one succeeds; after that, an equal call is a new one. */
	identity: Execution['identity'];
	succeeded(): void;
	failed(): void;
}

/** The calls of one execution, by name. */
interface CallCounts {
	execution: string | undefined;
	succeeded: Record<string, number>;
}

/** @throws NodeOperationError if an agent calls the operation as a tool: its answer cannot wait */
export function refuseAsTool(n8n: IExecuteFunctions): void {
	if (!isToolCall(n8n)) return;
	throw new NodeOperationError(n8n.getNode(), 'A tool cannot wait for an approval, so no one was asked', {
		description: 'The workflow’s author must put CRM Platform between the agent and its tools, as Human Review.',
	});
}

/**
 * Whether the model would read nothing of an error that is thrown: AI Agent 2 answers it with an empty text (LangChain's
 * AgentExecutor in n8n 2.41).
 */
export function isSwallowed(n8n: IExecuteFunctions): boolean {
	const { parentNode } = n8n as { parentNode?: INode };
	return n8n.isToolExecution() && !parentNode?.type.endsWith('.mcpTrigger');
}

/** Undefined if the node does not run as a tool. Two calls are equal if they would send the same request. */
export function toolCallOf(n8n: IExecuteFunctions): ToolCall | undefined {
	if (!isToolCall(n8n)) return undefined;
	return toolCallWith(n8n, [argumentsOf(n8n), readsItem(n8n.getNode().parameters) ? itemRead(n8n) : undefined]);
}

/**
 * The call with this content, besides the node. Its name leaves out the node's ID: n8n's own agents give each call a new one.
 */
export function toolCallWith(n8n: IExecuteFunctions, content: unknown[]): ToolCall {
	const { name: node, parameters, credentials = {} } = n8n.getNode();
	const name = sha256(JSON.stringify([n8n.getInstanceId(), n8n.getWorkflow().id, node, parameters, credentials, ...content]));
	const execution = n8n.getExecutionId();
	const context = nodeContext(n8n) as { toolCalls?: CallCounts };
	// A retry of an execution makes the agent's calls again from the first one, so it counts from the start.
	if (context.toolCalls?.execution !== execution) delete context.toolCalls;
	const { succeeded } = (context.toolCalls ??= { execution, succeeded: {} });
	const before = succeeded[name] ?? 0;
	const failed = failedCalls.get(name);
	const isRemembered = failed !== undefined && Date.now() - failed.at < remembered;
	const identity = isRemembered ? failed.identity : runIdentity(n8n, `${name}/${before}`);
	return {
		identity,
		succeeded() {
			succeeded[name] = before + 1;
			failedCalls.delete(name);
		},
		failed() {
			if (!isRemembered) failedCalls.set(name, { identity, at: Date.now() });
		},
	};
}

/** The item that expressions read as `$json`, without the ID of the call, which n8n adds and which differs for each attempt. */
function itemRead(n8n: IExecuteFunctions): unknown {
	const { toolCallId, ...item } = n8n.getInputData()[0]?.json ?? {};
	return toolCallId === undefined ? n8n.getWorkflowDataProxy(0).$json : item;
}

/** Services keep idempotency keys for a day or longer. */
const remembered = 24 * 60 * 60 * 1000;
const maxRemembered = 1_000;

/**
 * The calls that have failed in this process, with the time of their first failure, as old as their idempotency key. A chat
 * makes each call in an execution of its own, and n8n's MCP trigger in none, so what n8n keeps with an execution does not
 * reach the next attempt.
 */
const failedCalls = new RecentMap<string, { identity: Execution['identity']; at: number }>(maxRemembered);
