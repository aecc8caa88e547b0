import {
	isExpression,
	NodeConnectionTypes,
	type IDataObject,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
} from 'n8n-workflow';

import { isPlainObject, memberAtPath, withoutMembers } from '../base/ownMembers';
import { isHumanReview } from '../api/toolNode';
import { nodeFailure } from '../failure';
import type { Execution } from '../model';
import { failureText, inSentences } from '../toolCalls/toolAnswer';
import type { ToolAnswer } from './readingTools';
import { settingsIn } from './toolSettings';
import { runTool } from './toolset';

/** A call of CRM Platform AI Toolkit that waits for a person. */
interface ReviewedCall {
	name: 'change' | 'act';
	rawArgs: IDataObject;
	/** The parameters of the reviewed node, as the workflow has them. */
	parameters: IDataObject;
}

/** Maximum number of characters in the description of a change, which a person reads. */
const maxReviewLength = 10_000;

/**
 * Finds out what the reviewed call would write: n8n passes only the model's arguments to a review, and nobody knows what
 * `stg_01h…` is. A call that would be refused is declined at once, since a person cannot approve what no text describes,
 * and the service might accept it by the time it is carried out.
 */
export async function reviewCall(n8n: IExecuteFunctions): Promise<Pick<Execution, 'reviewText'> | { declined: INodeExecutionData[][] }> {
	const call = callToReview(n8n);
	if (!call) return {};
	let refusal: string;
	try {
		const { data: [first], notes } = await previewed(n8n, call);
		if (first?.preview !== undefined) return { reviewText: `${String(first.preview)}.` };
		refusal = `No approval was requested. ${notes.join('\n')}`;
	} catch (error) {
		const reason = inSentences(failureText(nodeFailure(n8n, error as Error, 0)));
		refusal = `No approval was requested, because the call would be refused: ${reason}`;
	}
	// n8n passes `chatInput` on to the model as the reason (n8n-nodes-langchain 2.41, processHitlResponses).
	return { declined: [[{ json: { data: { approved: false, outcome: 'refused', chatInput: refusal } }, pairedItem: { item: 0 } }]] };
}

function callToReview(n8n: IExecuteFunctions): ReviewedCall | undefined {
	const { tool, toolParameters: rawArgs } = n8n.getInputData()[0]?.json ?? {};
	if (!isHumanReview(n8n) || typeof tool !== 'string' || !isPlainObject(rawArgs)) return undefined;
	// Every context has this method, but only some types declare it.
	const reviewedNodes = (n8n as unknown as { getConnectedNodes(type: string): INode[] }).getConnectedNodes(NodeConnectionTypes.AiTool);
	const name = (['change', 'act'] as const).find((toolName) => tool.endsWith(`_${toolName}`));
	const prefix = tool.slice(0, -(name?.length ?? 0) - 1);
	const prefixOf = (parameters: IDataObject) => (parameters.options as IDataObject | undefined)?.prefix ?? 'crm';
	const node = reviewedNodes.find(({ type, parameters }) => type.endsWith('.crmPlatformTools') && prefix === prefixOf(parameters));
	// In another account, the names would belong to other records.
	if (!name || !node || JSON.stringify(idsOf(node)) !== JSON.stringify(idsOf(n8n.getNode()))) return undefined;
	return { name, rawArgs: withoutMembers(rawArgs as IDataObject, 'token'), parameters: node.parameters };
}

const idsOf = ({ credentials = {} }: INode): unknown[] => Object.entries(credentials).map(([type, { id }]) => [type, id]);

/** @throws Error in the model's words if the call would be refused */
async function previewed(n8n: IExecuteFunctions, { name, rawArgs, parameters }: ReviewedCall): Promise<ToolAnswer> {
	// Only n8n evaluates an expression of the reviewed node, which itself refuses a record type that it does not have.
	const stored = isExpression(parameters.kinds) ? { ...parameters, kinds: rawArgs.kind } : parameters;
	const settings = { ...settingsIn((parameter) => memberAtPath(stored, parameter.split('.')), maxReviewLength), asksFirst: true };
	if (!settings.tools.includes(name)) throw new Error(`There is no tool ${settings.prefix}_${name}.`);
	return await runTool(n8n, settings, name, rawArgs, { instance: '', workflow: '', execution: '', node: 'review', run: '' });
}
