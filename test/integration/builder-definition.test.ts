import { generateNodeTypeFile } from '@n8n/workflow-sdk';
import { NodeHelpers, type INode, type INodeParameters, type INodeProperties, type INodeType } from 'n8n-workflow';

import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { CrmPlatformAdmin } from '../../nodes/CrmPlatform/CrmPlatformAdmin.node';
import { CrmPlatformPollTrigger } from '../../nodes/CrmPlatform/CrmPlatformPollTrigger.node';
import { CrmPlatformSync } from '../../nodes/CrmPlatform/CrmPlatformSync.node';
import { CrmPlatformTrigger } from '../../nodes/CrmPlatform/CrmPlatformTrigger.node';
import { builderExamples } from '../../nodes/CrmPlatform/builderHints';
import { adminMenu, everydayMenu } from '../../nodes/CrmPlatform/resources';
import { run } from './n8n.ts';
import { sinceN8n } from './n8n-version.ts';
import { useSandbox } from './sandbox.ts';

/** What n8n hands out to AI builders (n8n 2.41, synthesize-type-def.js of its catalogue of nodes). */
function definitionOf({ description }: INodeType): string {
	const properties = description.properties.filter(({ type }) => type !== 'hidden');
	return generateNodeTypeFile({ ...description, properties } as never);
}

const isForBuilders = ({ displayOptions }: INodeProperties): boolean => '@version' in (displayOptions?.show ?? {});

const sandbox = useSandbox();

sinceN8n('2.41', () => {
	describe('What an AI builder reads of a node', () => {
		test.each([
			[new CrmPlatform(), 40_000],
			[new CrmPlatformAdmin(), 12_000],
			[new CrmPlatformSync(), 12_000],
			[new CrmPlatformTrigger(), 12_000],
			[new CrmPlatformPollTrigger(), 12_000],
		] as Array<[INodeType, number]>)('fits into its context: %#', (node, characters) => {
			expect(definitionOf(node).length).toBeLessThanOrEqual(characters);
		});

		test.each(builderExamples)('has a way that works to $task', async ({ parameters }) => {
			expect(definitionOf(new CrmPlatform())).toContain(JSON.stringify(parameters));
			const items = [{ mail: 'ada@acme.example', name: 'Ek' }];
			const { hints } = await run({ credential: sandbox.credential, parameters: parameters as INodeParameters, items });
			expect(hints).toEqual([]);
		});

		test('names every field that people fill in first, and what can be chosen', () => {
			expect(definitionOf(new CrmPlatform())).toContain('lifecycle_stage');
			expect(definitionOf(new CrmPlatform())).toContain('low|normal|high|urgent');
		});
	});
});

const nodes = [
	{ node: new CrmPlatform(), menu: everydayMenu },
	{ node: new CrmPlatformAdmin(), menu: adminMenu },
];

describe.each(nodes)('The parameters for builders of $node.description.displayName', ({ node: { description }, menu }) => {
	const combinations = menu.flatMap(({ value, operations }) =>
		operations.map(({ option }) => ({ resource: value, operation: String(option.value) })),
	);
	const node = { typeVersion: 1, parameters: {} } as INode;
	const isShown = (property: INodeProperties, parameters: INodeParameters) =>
		NodeHelpers.displayParameter(parameters, property, node, description);
	const forBuilders = description.properties.filter(isForBuilders);
	const form = description.properties.filter((property) => !isForBuilders(property) && property.type !== 'notice');

	test('are shown in no form', () => {
		const shown = combinations.flatMap((combination) => forBuilders.filter((property) => isShown(property, combination)));
		expect(shown).toEqual([]);
		expect(forBuilders.length).toBeGreaterThan(10);
	});

	// n8n adds a choice behind the last of each list of resources or operations, and ends if there is none.
	test('have no empty list of choices', () => {
		expect(forBuilders.filter(({ options }) => options?.length === 0)).toEqual([]);
	});

	test('are those of the form, each once, for the same resources and operations', () => {
		const appliesTo = (combination: INodeParameters) => (property: INodeProperties) =>
			['resource', 'operation'].every((name) => {
				const values = property.displayOptions?.show?.[name] as string[] | undefined;
				return !values || values.includes(String(combination[name]));
			});
		const namesIn = (properties: INodeProperties[]) => [...new Set(properties.map(({ name }) => name))].sort();
		for (const combination of combinations) {
			const told = namesIn(forBuilders.filter(appliesTo(combination)));
			expect({ ...combination, names: told }).toEqual({ ...combination, names: namesIn(form.filter(appliesTo(combination))) });
		}
		expect(namesIn(forBuilders)).toHaveLength(forBuilders.length);
	});
});
