import {
	NodeConnectionTypes,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type ISupplyDataFunctions,
	type SupplyData,
} from 'n8n-workflow';

import { connect, type Connection } from '../api/connection';
import { refusedWrite } from '../api/http/statuses';
import { systemClock } from '../base/clock';
import { withoutMembers } from '../base/ownMembers';
import { isBlank } from '../values/blank';
import { nodeFailure, type NodeFailure } from '../failure';
import { answerWithin, failureText, inSentences } from '../toolCalls/toolAnswer';
import { argumentsOf } from '../toolCalls/toolArguments';
import { toolCallWith } from '../toolCalls/toolCall';
import { countTool, describeTool, getTool, searchTool, type ToolAnswer } from './readingTools';
import { ModelArguments } from './modelArguments';
import { withCandidates } from './namedRecord';
import type { CallWrites, ToolRun } from './toolRun';
import { maxToolWait, dataNotice, toolTexts, type ToolTexts, toolSettings, type ToolName, type ToolSettings } from './toolSettings';
import { doWrites } from './toolWrites';
import { requestedAction, requestedChanges } from './writingTools';

const tools: Record<ToolName, (run: ToolRun, args: ModelArguments) => Promise<ToolAnswer>> = {
	search: searchTool,
	get: getTool,
	describe: describeTool,
	count: countTool,
	change: async (run, args) => await doWrites(run, await requestedChanges(run, args), args.text('token')),
	act: async (run, args) => await doWrites(run, await requestedAction(run, args), args.text('token')),
};

/** A tool for n8n's agents, which do not check its class, only that it has these members (n8n 2.41, isTool). */
interface OfferedTool extends ToolTexts {
	name: string;
	invoke(input: unknown): Promise<string>;
	metadata?: IDataObject;
}

/** The tools for AI Agent 2, MCP Server Trigger and n8n's own agents, which call them; AI Agent 3 reads their schemas. */
export async function supplyTools(n8n: ISupplyDataFunctions, item: number): Promise<SupplyData> {
	const context = n8n as unknown as IExecuteFunctions;
	const settings = toolSettings(context, item);
	const offeredTools = settings.tools.map((name): OfferedTool => ({
		name: `${settings.prefix}_${name}`,
		...toolTexts(name, settings),
		async invoke(input) {
			if (isDeeper(input)) return JSON.stringify([{ error: 'The arguments are nested too deeply. Send plain values.' }]);
			const rawArgs = (typeof input === 'object' && input !== null ? input : {}) as IDataObject;
			const { index } = n8n.addInputData(NodeConnectionTypes.AiTool, [[{ json: { tool: name, ...rawArgs } }]]);
			const answer = await answerCall(context, settings, name, rawArgs);
			n8n.addOutputData(NodeConnectionTypes.AiTool, index, [[{ json: { response: answer } }]]);
			return JSON.stringify(answer);
		},
	}));
	// n8n's own agents do not accept toolkits: there, each tool is a node of its own.
	const [only] = offeredTools;
	return { response: offeredTools.length === 1 ? only : { tools: offeredTools, getTools: () => offeredTools } };
}

/** A call by AI Agent 3, for which n8n runs the node: the item names the tool. */
export async function executeTool(n8n: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const settings = toolSettings(n8n, 0);
	const { tool, ...calledWith } = argumentsOf(n8n);
	const rawArgs = withoutMembers(calledWith, 'toolCallId');
	const calledName = String(tool ?? '').replace(new RegExp(`^${settings.prefix}_`), '');
	const onlyTool = settings.tools.length === 1 && tool === undefined ? settings.tools[0] : undefined;
	const name = settings.tools.find((toolName) => toolName === calledName) ?? onlyTool;
	const answer = name === undefined
		? [{ note: `${tool === undefined ? 'The call does not name a tool' : `There is no tool ${String(tool)}`}. There are ${settings.tools.map((toolName) => `${settings.prefix}_${toolName}`).join(', ')}.` }]
		: await answerCall(n8n, settings, name, rawArgs);
	return [answer.map((json) => ({ json, pairedItem: { item: 0 } }))];
}

/** Replaces advice about n8n's editor, which a model does not have. */
const forAuthors = /\s*\b(If [^.]*, r|R)eopen the node[^.]*\./g;

/** Maximum depth of arguments: no real call nests this deep, and reading deeper ones could exhaust the stack. */
const maxDepth = 50;

const isDeeper = (value: unknown, depth = maxDepth): boolean =>
	typeof value === 'object' && value !== null && (depth === 0 || Object.values(value).some((member) => isDeeper(member, depth - 1)));

/**
 * Runs a tool.
 *
 * @throws NodeFailure in the model's words, with the records that an unclear name may mean
 */
export async function runTool(n8n: IExecuteFunctions, settings: ToolSettings, name: ToolName, rawArgs: IDataObject, call: CallWrites): Promise<ToolAnswer> {
	let api: Connection | undefined;
	try {
		const args = new ModelArguments(name, rawArgs, settings);
		const recordType = args.recordType();
		api = await connect(n8n, systemClock, maxToolWait);
		const description = await api.describe(recordType.resource.path);
		if (!description) throw new Error(`The CRM does not offer records of the kind ${recordType.name}. Use another kind.`);
		return await tools[name]({ n8n, api, settings, call, recordType, description }, args);
	} catch (error) {
		throw nodeFailure(n8n, api ? await withCandidates(api, settings, error as Error) : (error as Error), 0);
	}
}

/** The answer to a call. It is never an error: AI Agent 2 passes on nothing of an error, and Agent 3 only its message. */
async function answerCall(n8n: IExecuteFunctions, settings: ToolSettings, name: ToolName, rawArgs: IDataObject): Promise<IDataObject[]> {
	const { identity, succeeded, failed } = toolCallWith(n8n, [name, rawArgs]);
	const call: CallWrites = { identity, hasWritten: false };
	const isWriting = name === 'change' || name === 'act';
	const answer = await runTool(n8n, settings, name, rawArgs, call).catch((failure: NodeFailure) => failure);
	if (answer instanceof Error) {
		failed();
		const isNothingWritten = isWriting && (!call.hasWritten || isRefusal(answer)) && !/nothing was (sent|written)/i.test(answer.message);
		const nothingWritten = isBlank(rawArgs.token) ? ' Nothing was written.' : ' This call wrote nothing; an earlier call with this token may have.';
		// People send the request ID to the service's support; a model has no use for it.
		const text = inSentences(failureText(answer).replace(/\s*Request ID: \S+/g, '')).replace(forAuthors, '');
		return answerWithin([{ error: text + (isNothingWritten ? nothingWritten : '') }], [dataNotice], settings.maxLength);
	}
	succeeded();
	const { data, notes, noteIfComplete } = answer;
	return answerWithin(data, notes, settings.maxLength, isWriting ? dataNotice : noteIfComplete);
}

/** Whether the service itself refused the write: only its own errors have a code. */
function isRefusal({ context, ...failure }: NodeFailure): boolean {
	const { code = '' } = (context.data ?? {}) as { code?: unknown };
	const isByService = code !== '' && !String(code).startsWith('idempotency');
	return context.mayBeDone !== true && 'httpCode' in failure && refusedWrite.includes(Number(failure.httpCode)) && isByService;
}
