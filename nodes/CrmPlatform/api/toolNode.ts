import type { IAllExecuteFunctions } from 'n8n-workflow';

/** Whether an AI agent or an MCP client runs the node: the one sign that all versions of both share (n8n 2.41). */
export const isToolCall = (n8n: Pick<IAllExecuteFunctions, 'getNode'>): boolean => n8n.getNode().type.endsWith('Tool');
