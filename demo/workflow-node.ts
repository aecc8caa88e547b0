import { randomUUID } from 'node:crypto';
import type { INode } from 'n8n-workflow';

/** A node of a workflow; it gets a new id unless `more` has one. */
export const workflowNode = (name: string, type: string, typeVersion: number, parameters: object, more: Partial<INode> = {}): INode => ({
	id: randomUUID(),
	name,
	type,
	typeVersion,
	position: [0, 0],
	parameters: parameters as INode['parameters'],
	...more,
});
