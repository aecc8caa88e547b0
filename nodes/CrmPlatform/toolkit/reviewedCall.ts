import {
	isExpression, NodeConnectionTypes, type IDataObject, type IExecuteFunctions, type INode, type INodeExecutionData,
} from 'n8n-workflow';

import { isPlainObject, memberAtPath, withoutMembers } from '../base/ownMembers';
import { isHumanReview } from '../api/toolNode';
import { nodeFailure } from '../failure';
import type { NodeRun } from '../model';
import { failureText, inSentences } from '../nodeAsTool/toolAnswer';
import { prefixIn, settingsIn } from './toolkitSettings';
import type { ToolkitAnswer } from './toolkitCall';
import { runTool } from './toolset';

/** Maximum number of characters in the description of a change, which a person reads. */
const maxReviewLength = 10_000;

/**
 * Finds out what the reviewed call would write: n8n passes a review only the model's arguments, and nobody knows what `stg_01h…` is. A call
 * that would be refused is declined at once: no text describes it, and the service might accept it by the time it is carried out.
 */
export async function reviewCall(n8n: IExecuteFunctions): Promise<Pick<NodeRun, 'reviewText'> | { declined: INodeExecutionData[][] }> {
	let refusal: string;
	try {
		const answer = await previewOfReviewed(n8n);
		if (!answer) return {};
		const { data: [first], notes } = answer;
		if (first?.preview !== undefined) return { reviewText: `${String(first.preview)}.` };
		refusal = `No approval was requested. ${notes.join('\n')}`;
	} catch (error) {
		const reason = inSentences(failureText(nodeFailure(n8n, error as Error, 0)));
		refusal = `No approval was requested, because the call would be refused: ${reason}`;
	}
	// n8n passes `chatInput` on to the model as the reason (n8n-nodes-langchain 2.41, processHitlResponses).
	return { declined: [[{ json: { data: { approved: false, outcome: 'refused', chatInput: refusal } }, pairedItem: { item: 0 } }]] };
}

/**
 * The preview of the call under review; undefined if it is none of CRM Platform AI Toolkit that writes to this account.
 *
 * @throws Error in the model's words if the call would be refused
 */
async function previewOfReviewed(n8n: IExecuteFunctions): Promise<ToolkitAnswer | undefined> {
	const { tool, toolParameters: rawArgs } = n8n.getInputData()[0]?.json ?? {};
	if (!isHumanReview(n8n) || typeof tool !== 'string' || !isPlainObject(rawArgs)) return undefined;
	// Every context has this method, but only some types declare it.
	const reviewedNodes = (n8n as unknown as { getConnectedNodes(type: string): INode[] }).getConnectedNodes(NodeConnectionTypes.AiTool);
	const name = (['change', 'act'] as const).find((toolName) => tool.endsWith(`_${toolName}`));
	const prefix = tool.slice(0, -(name?.length ?? 0) - 1);
	const node = reviewedNodes.find(({ type, parameters }) => type.endsWith('.crmPlatformTools') && prefix === prefixIn(readerOf(parameters)));
	// In another account, the names would belong to other records.
	if (!name || !node || JSON.stringify(idsOf(node)) !== JSON.stringify(idsOf(n8n.getNode()))) return undefined;
	const args = withoutMembers(rawArgs as IDataObject, 'token');
	// Only n8n evaluates an expression of the reviewed node, which itself refuses a record type that it does not have.
	const stored = isExpression(node.parameters.kinds) ? { ...node.parameters, kinds: args.kind } : node.parameters;
	const settings = { ...settingsIn(readerOf(stored), maxReviewLength), asksFirst: true };
	if (!settings.tools.includes(name)) throw new Error(`There is no tool ${settings.prefix}_${name}.`);
	return await runTool(n8n, settings, name, args, { instance: '', workflow: '', execution: '', node: 'review', runKey: '' });
}

const readerOf = (parameters: IDataObject) => (name: string): unknown => memberAtPath(parameters, name.split('.'));

const idsOf = ({ credentials = {} }: INode): unknown[] => Object.entries(credentials).map(([type, { id }]) => [type, id]);
