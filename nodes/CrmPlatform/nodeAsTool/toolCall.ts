import {
	isExpression, NodeOperationError, traverseNodeParameters, type FromAIArgument, type IDataObject, type IExecuteFunctions,
	type IRunExecutionData,
} from 'n8n-workflow';

import { isToolCall } from '../api/toolNode';
import { sha256 } from '../base/digest';
import { scalarsIn } from '../base/json';
import { RecentMap } from '../base/maps';
import { processMemory } from '../base/processMemory';
import type { NodeRun } from '../model';
import { isBlank } from '../values/blank';
import { nodeContext, runIdentity } from '../writing/runState';

/**
 * A call of the node by an AI agent or an MCP client, identified by its arguments: n8n's run index differs
 * between attempts at a call, and may be the same for the calls of an agent that works on several items at once.
 */
export interface ToolCall {
	/** Equal for all attempts at the call until one succeeds; after that, an equal call is a new one. */
	identity: NodeRun['identity'];
	/** Notes how the attempt has ended. @param mayHaveWritten otherwise, the next attempt writes in the name of its own execution */
	end(hasFailed: boolean, mayHaveWritten: boolean): void;
}

/** Undefined if the node does not run as a tool. Two calls are equal if they would send the same request. */
export function toolCallOf(n8n: IExecuteFunctions): ToolCall | undefined {
	if (!isToolCall(n8n)) return undefined;
	return toolCallWith(n8n, [argumentsOf(n8n), readsItem(n8n.getNode().parameters) ? itemRead(n8n) : undefined]);
}

/** The call with this content. Its digest leaves out the node's ID: n8n's own agents give each call a new one. */
export function toolCallWith(n8n: IExecuteFunctions, content: unknown[]): ToolCall {
	const { name: node, parameters, credentials = {} } = n8n.getNode();
	const digest = sha256(JSON.stringify([n8n.getInstanceId(), n8n.getWorkflow().id, node, parameters, credentials, ...content]));
	const execution = n8n.getExecutionId();
	const context = nodeContext(n8n) as { toolCalls?: { execution: string | undefined; successes: Record<string, number> } };
	// A retry of an execution makes the agent's calls again from the first one, so it counts from the start.
	if (context.toolCalls?.execution !== execution) delete context.toolCalls;
	/** How often each call has succeeded in this execution, by its digest. */
	const { successes } = (context.toolCalls ??= { execution, successes: {} });
	const successesBefore = successes[digest] ?? 0;
	const failed = failedCalls.get(digest);
	const isRemembered = failed !== undefined && Date.now() - failed.at < remembered;
	const identity = isRemembered ? failed.identity : runIdentity(n8n, `${digest}/${successesBefore}`);
	const end = (hasFailed: boolean, mayHaveWritten: boolean) => {
		if (!hasFailed) {
			successes[digest] = successesBefore + 1;
			failedCalls.delete(digest);
		} else if (!isRemembered && mayHaveWritten) failedCalls.set(digest, { identity, at: Date.now() });
	};
	return { identity, end };
}

/** The item that expressions read as `$json`, without the ID of the call, which n8n adds and which differs for each attempt. */
function itemRead(n8n: IExecuteFunctions): unknown {
	const { toolCallId, ...item } = n8n.getInputData()[0]?.json ?? {};
	return toolCallId === undefined ? n8n.getWorkflowDataProxy(0).$json : item;
}

/** Services keep idempotency keys for a day or longer. */
const remembered = 24 * 60 * 60 * 1000;

/**
 * The calls of this process that failed after they had sent a write, with the time of the first failure, as old as their idempotency key. A chat
 * makes each call in its own execution, and n8n's MCP trigger in none, so nothing that n8n keeps with one reaches the next attempt.
 */
const failedCalls = processMemory(new RecentMap<string, { identity: NodeRun['identity']; at: number }>(1_000));

/** The model's arguments. AI Agent 3 lays them over its item; only n8n's record of the run has them apart (n8n-core 2.41, requests-response). */
export function argumentsOf(n8n: IExecuteFunctions): IDataObject {
	return laidOverItem(n8n) ?? n8n.getInputData()[0]?.json ?? {};
}

/** The arguments, if the item that expressions read consists of them and the agent's; otherwise undefined. */
function laidOverItem(n8n: IExecuteFunctions): IDataObject | undefined {
	if (n8n.isToolExecution()) return undefined;
	const { runExecutionData } = n8n as { runExecutionData?: IRunExecutionData };
	const runs = runExecutionData?.resultData.runData[n8n.getNode().name];
	return runs?.[n8n.getWorkflowDataProxy(0).$runIndex as number]?.inputOverride?.ai_tool?.[0]?.[0]?.json;
}

/** Whether the node's values come from anything but the arguments, such as the agent's input item. */
function readsItem(parameters: unknown): boolean {
	return expressionsIn(parameters).some((expression) => expression.includes('$'));
}

/**
 * Refuses a call that would use values neither the author of the workflow nor the model intended.
 *
 * @throws NodeOperationError that says what to send instead
 */
export function refuseForeignArguments(n8n: IExecuteFunctions): void {
	const overlaidArguments = laidOverItem(n8n);
	if (overlaidArguments) refuseOverlaid(n8n, overlaidArguments);
	else if (n8n.isToolExecution()) refuseMixedUp(n8n);
}

/** AI Agent 3 passes on whatever the model sends, and `$json` reads that in place of the agent's item. */
function refuseOverlaid(n8n: IExecuteFunctions, passed: IDataObject): void {
	const { parameters } = n8n.getNode();
	const declared: FromAIArgument[] = [];
	traverseNodeParameters(parameters, declared);
	const names = [...new Set(declared.map(({ key }) => key))];
	const expressions = expressionsIn(parameters);
	const isFixed = names.length === 0 && !readsItem(parameters);
	// `$fromAI` looks into an argument of this name first.
	const isKnown = (name: string) => names.includes(name) || (name === 'query' && typeof passed.query === 'object');
	for (const [name, value] of Object.entries(passed)) {
		if (!isKnown(name) && !isFixed && !isBlank(value)) {
			throw new NodeOperationError(n8n.getNode(), `This tool has no argument ${name}, so nothing was done`, {
				description: `Call it again with these only: ${names.join(', ') || 'none'}.`,
			});
		}
		if (isKnown(name) && expressions.some((expression) => readsFromItem(expression, name))) {
			throw new NodeOperationError(n8n.getNode(), `The argument ${name} would replace a value of the workflow, so nothing was done`, {
				description: `The workflow’s author must rename it in $fromAI, since an expression of the node also reads ${name} from the agent’s item.`,
			});
		}
	}
}

function readsFromItem(expression: string, name: string): boolean {
	const item = String.raw`\$(?:json|input\b[^}]*?\bjson)\s*(?:\?\.)?`;
	const field = String.raw`\s*(?:\.?\s*${name}(?![\w$-])|\[\s*['"\`]${name}['"\`])`;
	return new RegExp(item + field).test(expression);
}

/** AI Agent 2 finds the arguments of `$fromAI` by the run index, so that calls that share one may get those of another call. */
function refuseMixedUp(n8n: IExecuteFunctions): void {
	const passed = argumentsOf(n8n);
	// n8n looks into an argument of this name first (2.41).
	const query = passed.query as IDataObject | undefined;
	const isOwn = ([name, value]: [string, unknown]) => {
		const argument = query?.[name] ?? value ?? null;
		return JSON.stringify(argument) === JSON.stringify(foundBy(n8n, name, argument) ?? null);
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

/** The value that `$fromAI` returns for an argument; `argument` if n8n has recorded no call in which to look. */
function foundBy(n8n: IExecuteFunctions, name: string, argument: unknown): unknown {
	const fromAI = n8n.getWorkflowDataProxy(0).$fromAI as (name: string) => unknown;
	try {
		return fromAI(name);
	} catch {
		return argument;
	}
}

/** The expressions among the parameters, without the beginnings of their calls of `$fromAI`. */
const expressionsIn = (parameters: unknown): string[] =>
	scalarsIn(parameters).filter(isExpression).map((expression) => expression.replace(/\$fromAI\(\s*(['"`])[\w-]*\1/gi, ''));
