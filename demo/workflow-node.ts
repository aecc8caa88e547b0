import { randomUUID } from 'node:crypto';
import type { IConnections, INode, INodeConnections, NodeConnectionType } from 'n8n-workflow';

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

export const connectionTo = (node: string, type: NodeConnectionType = 'main'): INodeConnections => ({
	[type]: [[{ node, type, index: 0 }]],
});

/** The connections of nodes that run one after another. */
export const inARow = (nodes: INode[]): IConnections =>
	Object.fromEntries(nodes.slice(1).map(({ name }, i) => [nodes[i]!.name, connectionTo(name)]));
