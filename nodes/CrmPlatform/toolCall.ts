import { createHash } from 'node:crypto';

import { NodeOperationError, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

/**
 * A call of the node by an AI agent that runs its tools itself, identified by its arguments: n8n's run
 * index differs between attempts of Retry On Fail, and may be the same for the calls of an agent that
 * works on several items at once.
 */
export interface ToolCall {
	/** The same for each attempt at the call until it succeeds; then the same call is a new one. */
	id: string;
	succeeded(): void;
}

/** Successful calls of one execution. */
interface CallCounts {
	execution: string | undefined;
	/** By the hash of the arguments. */
	succeeded: Record<string, number>;
}

/** Undefined where the node does not run as a tool. */
export function toolCallOf(n8n: IExecuteFunctions): ToolCall | undefined {
	if (!n8n.isToolExecution()) return undefined;
	const call = createHash('sha256').update(JSON.stringify(argumentsOf(n8n))).digest('hex');
	const counts = countsOf(n8n);
	const before = counts.succeeded[call] ?? 0;
	return {
		id: `${call}/${before}`,
		succeeded: () => (counts.succeeded[call] = before + 1),
	};
}

/** A retry of an execution makes the agent's calls again from the first one, so it counts anew. */
function countsOf(n8n: IExecuteFunctions): CallCounts {
	const execution = n8n.getExecutionId();
	const none: CallCounts = { execution, succeeded: {} };
	// Calls without an execution (n8n's MCP trigger) have no place where they could be counted.
	if (execution === undefined) return none;
	const context = n8n.getContext('node') as { toolCalls?: CallCounts };
	if (context.toolCalls?.execution !== execution) context.toolCalls = none;
	return context.toolCalls ?? none;
}

/**
 * Checks that `$fromAI` gives the node's expressions the arguments of this call. n8n finds them by the
 * run index: where several calls share one, they are those of another call.
 *
 * @throws NodeOperationError where they are others
 */
export function refuseMixedUpToolCall(n8n: IExecuteFunctions): void {
	if (!n8n.isToolExecution()) return;
	const passed = argumentsOf(n8n);
	// n8n looks into an argument of this name first (2.41).
	const query = passed.query as IDataObject | undefined;
	const isOwn = ([name, value]: [string, unknown]) => {
		const own = query?.[name] ?? value ?? null;
		return JSON.stringify(own) === JSON.stringify(foundBy(n8n, name, own) ?? null);
	};
	if (Object.entries(passed).every(isOwn)) return;
	throw new NodeOperationError(
		n8n.getNode(),
		'This tool call received the values of another call, so nothing was sent',
		{
			description:
				'This happens in n8n when an AI agent processes several items at once. In the options of the agent, set Batch Size to 1.',
		},
	);
}

/** The value `$fromAI` gives for an argument; `own` where n8n has recorded no call to look in. */
function foundBy(n8n: IExecuteFunctions, name: string, own: unknown): unknown {
	const fromAI = n8n.getWorkflowDataProxy(0).$fromAI as (name: string) => unknown;
	try {
		return fromAI(name);
	} catch {
		return own;
	}
}

/** The arguments the agent's model has filled in. */
function argumentsOf(n8n: IExecuteFunctions): IDataObject {
	return n8n.getInputData()[0]?.json ?? {};
}
