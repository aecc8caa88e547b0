import {
	NodeConnectionTypes, type IDataObject, type IExecuteFunctions, type INodeExecutionData, type ISupplyDataFunctions, type SupplyData,
} from 'n8n-workflow';

import { connect } from '../api/connection';
import { systemClock } from '../base/clock';
import { withoutMembers } from '../base/ownMembers';
import { isBlank } from '../values/blank';
import { nodeFailure, type NodeFailure } from '../failure';
import type { NodeRun } from '../model';
import { failureText, inSentences, withinLength } from '../nodeAsTool/toolAnswer';
import { argumentsOf, toolCallWith } from '../nodeAsTool/toolCall';
import { countTool, describeTool, getTool, searchTool } from './readingTools';
import { withCandidates } from './namedRecord';
import { ModelArguments, type ToolkitAnswer, type ToolkitCall } from './toolkitCall';
import { maxToolWait, toolkitSettings, type ToolName, type ToolkitSettings } from './toolkitSettings';
import { dataNotice, toolTexts } from './toolTexts';
import { requestedAction, requestedChange, writeOrPreview } from './writingTools';

const tools: Record<ToolName, (call: ToolkitCall) => Promise<ToolkitAnswer>> = {
	search: searchTool,
	get: getTool,
	describe: describeTool,
	count: countTool,
	change: async (call) => await writeOrPreview(call, await requestedChange(call)),
	act: async (call) => await writeOrPreview(call, await requestedAction(call)),
};

/** The tools for AI Agent 2, MCP Server Trigger and n8n's own agents, which call them; AI Agent 3 reads their schemas. */
export async function supplyTools(n8n: ISupplyDataFunctions, item: number): Promise<SupplyData> {
	const context = n8n as unknown as IExecuteFunctions;
	const settings = toolkitSettings(context, item);
	// n8n's agents do not check the class of a tool, only that it has these members (n8n 2.41, isTool).
	const offeredTools = settings.tools.map((name) => ({
		name: `${settings.prefix}_${name}`,
		...toolTexts(name, settings),
		async invoke(input: unknown): Promise<string> {
			const rawArgs = (typeof input === 'object' && input !== null ? input : {}) as IDataObject;
			const { index } = n8n.addInputData(NodeConnectionTypes.AiTool, [[{ json: { tool: name, ...rawArgs } }]]);
			const answer = (await answerCall(context, settings, name, rawArgs)).map(({ json }) => json);
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
	const settings = toolkitSettings(n8n, 0);
	const { tool, ...calledWith } = argumentsOf(n8n);
	const rawArgs = withoutMembers(calledWith, 'toolCallId');
	const calledName = String(tool ?? '').replace(new RegExp(`^${settings.prefix}_`), '');
	const onlyTool = settings.tools.length === 1 && tool === undefined ? settings.tools[0] : undefined;
	const name = settings.tools.find((toolName) => toolName === calledName) ?? onlyTool;
	if (name !== undefined) return [await answerCall(n8n, settings, name, rawArgs)];
	const problem = tool === undefined ? 'The call does not name a tool' : `There is no tool ${String(tool)}`;
	const names = settings.tools.map((toolName) => `${settings.prefix}_${toolName}`).join(', ');
	return [[{ json: { note: `${problem}. There are ${names}.` }, pairedItem: { item: 0 } }]];
}

/** Replaces advice about n8n's editor, which a model does not have. */
const forAuthors = /\s*\b(If [^.]*, r|R)eopen the node[^.]*\./g;

/**
 * Runs a tool.
 *
 * @throws NodeFailure in the model's words, with the records that an unclear name may mean; `mayHaveWritten` in its context
 * says whether something may have been written
 */
export async function runTool(
	n8n: IExecuteFunctions, settings: ToolkitSettings, name: ToolName, rawArgs: IDataObject, identity: NodeRun['identity'],
): Promise<ToolkitAnswer> {
	try {
		const args = new ModelArguments(name, rawArgs, settings);
		const toolkitType = args.toolkitType();
		const api = await connect(n8n, systemClock, maxToolWait);
		const description = await api.describe(toolkitType.resource.path);
		if (!description) throw new Error(`The CRM does not offer records of the kind ${toolkitType.name}. Use another kind.`);
		const call: ToolkitCall = { n8n, api, settings, args, toolkitType, description, identity };
		return await tools[name](call).catch(async (error: Error) => {
			throw await withCandidates(call, error);
		});
	} catch (error) {
		throw nodeFailure(n8n, error as Error, 0);
	}
}

/** The answer to a call. It is never an error: AI Agent 2 passes on nothing of an error, and Agent 3 only its message. */
async function answerCall(
	n8n: IExecuteFunctions, settings: ToolkitSettings, name: ToolName, rawArgs: IDataObject,
): Promise<INodeExecutionData[]> {
	const toolCall = toolCallWith(n8n, [name, rawArgs]);
	const isWriting = name === 'change' || name === 'act';
	const itemOf = (json: IDataObject): INodeExecutionData => ({ json, pairedItem: { item: 0 } });
	const answer = await runTool(n8n, settings, name, rawArgs, toolCall.identity).catch((failure: NodeFailure) => failure);
	toolCall.end(answer instanceof Error, answer instanceof Error && answer.context.mayHaveWritten === true);
	if (!(answer instanceof Error)) {
		const { data, notes, noteIfComplete } = answer;
		return withinLength(data.map(itemOf), notes, settings.maxLength, isWriting ? dataNotice : noteIfComplete);
	}
	// People send the request ID to the service's support; a model has no use for it.
	const text = inSentences(failureText(answer).replace(/\s*Request ID: \S+/g, '')).replace(forAuthors, '');
	const needsNote = isWriting && answer.context.mayHaveWritten !== true && !/nothing was (sent|written)/i.test(answer.message);
	const note = isBlank(rawArgs.token) ? ' Nothing was written.' : ' This call wrote nothing; an earlier call with this token may have.';
	return withinLength([itemOf({ error: needsNote ? text + note : text })], [dataNotice], settings.maxLength);
}
