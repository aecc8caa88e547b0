import { setSchemaBaseDirs, validateNodeConfig } from '@n8n/workflow-sdk';
import { orchestrateGeneration } from '@n8n/workflow-sdk/scripts/generate-types';
import { NodeHelpers, type IDataObject, type INode, type INodeType } from 'n8n-workflow';

import { listExamples, readExample } from '../../demo/examples.ts';
import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { CrmPlatformPollTrigger } from '../../nodes/CrmPlatform/CrmPlatformPollTrigger.node';
import { CrmPlatformSync } from '../../nodes/CrmPlatform/CrmPlatformSync.node';
import { CrmPlatformTools } from '../../nodes/CrmPlatform/CrmPlatformTools.node';
import { CrmPlatformTrigger } from '../../nodes/CrmPlatform/CrmPlatformTrigger.node';
import { useFolderOfFile } from '../support/temporary-folder.ts';
import { definitionOf } from '../support/definition.ts';
import { nodeRuns } from '../support/node-runs.ts';
import { sinceN8n } from '../support/n8n-version.ts';
import { useSandbox } from '../support/sandbox.ts';
import { writeNode } from '../support/scripted-builder.ts';

const prefix = 'n8n-nodes-crm-platform.';
const nodes: INodeType[] = [
	new CrmPlatform(), new CrmPlatformSync(), new CrmPlatformTools(), new CrmPlatformTrigger(), new CrmPlatformPollTrigger(),
];
const definitions = new Map<string, string>();

interface Example {
	example: string;
	name: string;
	type: string;
	wish: IDataObject;
}

/** n8n adds a description of its own to a node that is a tool. */
const wishOf = ({ parameters: { toolDescription: _text, descriptionType: _by, ...wish } }: INode) => wish as IDataObject;

const examples: Example[] = listExamples().flatMap((example) =>
	readExample(example, { type: 'none', id: '', name: '' })
		.nodes.filter(({ type }) => type.startsWith(prefix))
		.map((node) => ({ example, name: node.name, type: node.type.replace(/Tool$/, ''), wish: wishOf(node) })),
);

/** Whether a node depends on nothing but its own items. */
const standsAlone = ({ type, wish }: Example) =>
	type === `${prefix}crmPlatform` && !/\$\(|\$fromAI|"importFile"|"moveIn"|"get"/.test(JSON.stringify(wish));

const sandbox = useSandbox({ contacts: 5 });
const { run } = nodeRuns(sandbox);

/** An item with everything that the examples take from theirs. */
async function itemFor({ example }: Example): Promise<IDataObject> {
	const [contact] = await sandbox.list('contacts?limit=1');
	const [deal] = await sandbox.list('deals?limit=1');
	const mail = 'ada@acme.example';
	const person = { mail, Email: mail, email: mail, name: 'Ek', Name: 'Ada Ek', from: example === 'import-leads.json' ? 'other' : mail };
	const ofDeal = { id: deal!.id, title: 'Roof', expected_close_date: '2031-03-31', owner_id: deal!.owner_id };
	const greeted = example === 'greet-new-contacts.json' && { id: contact!.id };
	return { ...person, ...ofDeal, ...greeted, data: { object: { id: contact!.id, name: 'Ada' } }, count_id: 2, concatenated_id: 'a, b' };
}
const folder = useFolderOfFile();

sinceN8n('2.41', () => {
	describe('A builder that knows only what n8n hands out', () => {
		beforeAll(async () => {
			const descriptions = nodes.map(({ description }) => ({ ...description, name: prefix + description.name }));
			for (const [place, node] of nodes.entries()) definitions.set(descriptions[place]!.name, definitionOf(node));
			await orchestrateGeneration({ nodes: descriptions as never, outputDir: folder });
			setSchemaBaseDirs([folder]);
		});
		afterAll(() => setSchemaBaseDirs([]));

		const writeExample = ({ type, wish }: Example) => writeNode(definitions.get(type)!, wish);

		test.each(examples)('can rewrite “$name” of $example so that it passes n8n’s own check', (example) => {
			expect(validateNodeConfig(example.type, 1, { parameters: writeExample(example) })).toEqual({ valid: true, errors: [] });
		});

		test('would be told that a choice does not exist', () => {
			const parameters = { resource: 'animal', operation: 'getMany' };
			expect(validateNodeConfig(`${prefix}crmPlatform`, 1, { parameters }).valid).toBe(false);
			expect(() => writeNode(definitions.get(`${prefix}crmPlatform`)!, parameters)).toThrow('animal');
		});

		test.each(examples)('finds a place for everything in “$name” of $example in the form that people see', (example) => {
			const parameters = writeExample(example);
			const { properties } = nodes[[...definitions.keys()].indexOf(example.type)]!.description;
			expect(NodeHelpers.getNodeParameters(properties, parameters, true, false, { typeVersion: 1 }, null)).toMatchObject(parameters);
		});

		test.each(examples.filter(standsAlone))('writes a “$name” of $example that runs', async (example) => {
			const { items } = await run(writeExample(example), [await itemFor(example)]);
			expect(items.length).toBeGreaterThanOrEqual(['getMany', 'undo'].includes(String(example.wish.operation)) ? 0 : 1);
		});
	});
});
