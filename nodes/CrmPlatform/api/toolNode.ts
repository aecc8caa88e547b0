import type { IAllExecuteFunctions } from 'n8n-workflow';

type AnyContext = Pick<IAllExecuteFunctions, 'getNode'>;

/** Whether an AI agent or an MCP client runs the node. Only the type shows this in all versions of both (n8n 2.41). */
export const isToolCall = (n8n: AnyContext): boolean => n8n.getNode().type.endsWith('Tool') && !isHumanReview(n8n);

/** Whether n8n runs the node to ask a person to approve the call of another tool. */
export const isHumanReview = (n8n: AnyContext): boolean => n8n.getNode().type.endsWith('HitlTool');
