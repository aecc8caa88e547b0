import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Workflow } from './n8n-client.ts';

const examplesFolder = resolve('examples');
const ourNodes = 'n8n-nodes-crm-platform.';

/** The file names of the example workflows, in order. */
export function listExamples(): string[] {
	return readdirSync(examplesFolder)
		.filter((name) => name.endsWith('.json'))
		.sort();
}

/** Reads an example and sets the credential of its CRM Platform nodes. */
export function readExample(
	name: string,
	credential: { type: string; id: string; name: string },
): Workflow {
	const workflow = JSON.parse(readFileSync(join(examplesFolder, name), 'utf8')) as Workflow;
	const credentials = { [credential.type]: { id: credential.id, name: credential.name } };
	const nodes = workflow.nodes.map((node) =>
		node.type.startsWith(ourNodes) ? { ...node, credentials } : node,
	);
	return { ...workflow, nodes };
}
