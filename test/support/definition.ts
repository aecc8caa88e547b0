import { generateNodeTypeFile } from '@n8n/workflow-sdk';
import type { INodeType } from 'n8n-workflow';

/** The definition of a node that n8n gives AI builders (n8n 2.41, synthesize-type-def.js of its catalog of nodes). */
export function definitionOf({ description }: INodeType): string {
	const properties = description.properties.filter(({ type }) => type !== 'hidden');
	return generateNodeTypeFile({ ...description, properties } as never);
}
