import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type { INodeType, INodeTypeDescription, IVersionedNodeType } from 'n8n-workflow';
import { buildPackage } from '../tools/build.ts';
import { fillSection } from '../tools/marked-section.ts';
import { installN8n } from '../tools/n8n.mjs';
import { markdownTable } from './peers/markdown.ts';

const page = resolve('docs', 'agents.md');
const markers = ['<!-- definitions, written by npm run bench definitions -->', '<!-- end of definitions -->'] as const;
const others = ['Hubspot/Hubspot', 'Pipedrive/Pipedrive', 'Salesforce/Salesforce', 'Airtable/Airtable'];
const ours = ['', 'Admin', 'Sync', 'Tools', 'PollTrigger', 'Trigger'].map((name) => `CrmPlatform${name}`);

/** Writes into docs/agents.md how much AI builders and the editor read of each node, beside other nodes of n8n. */
export async function benchDefinitions(): Promise<void> {
	await buildPackage();
	const n8n = await installN8n();
	const require = createRequire(join(n8n, 'package.json'));
	const { generateNodeTypeFile } = require(join(n8n, 'node_modules', '@n8n', 'workflow-sdk')) as { generateNodeTypeFile(description: object): string };
	const base = join(n8n, 'node_modules', 'n8n-nodes-base', 'dist', 'nodes');
	const files = [...ours.map((name) => resolve('dist', 'nodes', 'CrmPlatform', name)), ...others.map((name) => join(base, name))];
	const rows = files.map((file) => {
		const description = descriptionIn(require(`${file}.node.js`) as Record<string, unknown>);
		// As n8n's catalog does (synthesize-type-def.js, 2.41).
		const properties = description.properties.filter(({ type }) => type !== 'hidden');
		const definition = generateNodeTypeFile({ ...description, properties });
		return [description.displayName, definition.length, Buffer.byteLength(JSON.stringify(description))].map((cell) => cell.toLocaleString('en'));
	});
	const table = markdownTable([['Node', 'Definition for AI builders: characters', 'Description for the editor: bytes'], ...rows]);
	console.log(table);
	writeFileSync(page, fillSection(readFileSync(page, 'utf8'), markers, table));
}

/** The newest description in a module with one class. */
function descriptionIn(module: Record<string, unknown>): INodeTypeDescription {
	const [Class] = Object.values(module) as Array<new () => INodeType | IVersionedNodeType>;
	const node = new Class!();
	return 'nodeVersions' in node ? node.nodeVersions[node.currentVersion]!.description : node.description;
}
