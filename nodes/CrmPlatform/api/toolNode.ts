import type { IAllExecuteFunctions } from 'n8n-workflow';

type AnyContext = Pick<IAllExecuteFunctions, 'getNode'>;

/** Whether an AI agent or an MCP client runs the node: the one sign that all versions of both share (n8n 2.41). */
export const isToolCall = (n8n: AnyContext): boolean => n8n.getNode().type.endsWith('Tool') && !isHumanReview(n8n);

/** Whether n8n runs the node to ask a person for consent to the call of another tool. */
export const isHumanReview = (n8n: AnyContext): boolean => n8n.getNode().type.endsWith('HitlTool');
