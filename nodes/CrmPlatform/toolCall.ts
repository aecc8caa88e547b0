import { createHash } from 'node:crypto';

import { NodeOperationError, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

/**
 * A call of the node by an AI agent that runs its tools itself. What it was called with tells it
 * from others: n8n's run index is another one for each try of Retry On Fail, and may be the same
 * for the calls of an agent that works on several items at once.
 */
export interface ToolCall {
	/** The same for each try of the call until it succeeds; then the same call is a new one. */
	id: string;
	succeeded(): void;
}

/** Nothing where the node is no such tool. */
export function toolCallOf(n8n: IExecuteFunctions): ToolCall | undefined {
	if (!n8n.isToolExecution()) return undefined;
	const call = createHash('sha256').update(JSON.stringify(givenTo(n8n))).digest('hex');
	// Calls without an execution (n8n's MCP trigger) have no place to be counted in.
	const successes = n8n.getExecutionId() === undefined ? {} : n8n.getContext('node');
	const before = Number(successes[call] ?? 0);
	return {
		id: `${call}/${before}`,
		succeeded: () => (successes[call] = before + 1),
	};
}

/**
 * Looks whether the node's expressions are given what this call was made with. n8n finds that by
 * the run index: with one it gave to several calls, `$fromAI` has the values of another call.
 *
 * @throws NodeOperationError where they are given something else
 */
export function refuseMixedUpToolCall(n8n: IExecuteFunctions): void {
	if (!n8n.isToolExecution()) return;
	const given = givenTo(n8n);
	// n8n looks into an argument of this name first.
	const query = given.query as IDataObject | undefined;
	const isOwn = ([name, value]: [string, unknown]) => {
		const own = query?.[name] ?? value ?? null;
		return JSON.stringify(own) === JSON.stringify(foundBy(n8n, name, own) ?? null);
	};
	if (Object.entries(given).every(isOwn)) return;
	throw new NodeOperationError(
		n8n.getNode(),
		'n8n gave this call of the tool the values of another one, so nothing was sent',
		{
			description:
				'This happens when an AI agent works on several items at once. Set the agent’s option Batch Size to 1.',
		},
	);
}

/** What an expression finds for an argument; `own` where n8n has noted no call to look in. */
function foundBy(n8n: IExecuteFunctions, name: string, own: unknown): unknown {
	const fromAI = n8n.getWorkflowDataProxy(0).$fromAI as (name: string) => unknown;
	try {
		return fromAI(name);
	} catch {
		return own;
	}
}

/** What the agent's model has filled in. */
function givenTo(n8n: IExecuteFunctions): IDataObject {
	return n8n.getInputData()[0]?.json ?? {};
}
