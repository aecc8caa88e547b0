import { globSync, readFileSync } from 'node:fs';

import { type INode, type INodeProperties, type INodePropertyCollection, type INodeType, NodeHelpers } from 'n8n-workflow';

import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { CrmPlatformAdmin } from '../../nodes/CrmPlatform/CrmPlatformAdmin.node';
import { CrmPlatformDuplicates } from '../../nodes/CrmPlatform/CrmPlatformDuplicates.node';
import { CrmPlatformPollTrigger } from '../../nodes/CrmPlatform/CrmPlatformPollTrigger.node';
import { CrmPlatformSync } from '../../nodes/CrmPlatform/CrmPlatformSync.node';
import { CrmPlatformTools } from '../../nodes/CrmPlatform/CrmPlatformTools.node';
import { CrmPlatformTrigger } from '../../nodes/CrmPlatform/CrmPlatformTrigger.node';

/*
 * Rules that n8n's documentation names and that neither its plugin for community nodes (0.32) nor
 * eslint-plugin-n8n-nodes-base has: the gate applies those two to the descriptions as code assembles them.
 * Rules that are broken on purpose are listed here and in docs/development/decisions.md, so that none is added by accident.
 * https://github.com/n8n-io/n8n/tree/master/packages/%40n8n/eslint-plugin-community-nodes/docs/rules
 */
const nodes: INodeType[] = [
	new CrmPlatform(),
	new CrmPlatformAdmin(),
	new CrmPlatformDuplicates(),
	new CrmPlatformSync(),
	new CrmPlatformTools(),
	new CrmPlatformTrigger(),
	new CrmPlatformPollTrigger(),
];

const parametersOf = (parameters: INodeProperties[]): INodeProperties[] =>
	parameters.flatMap((parameter) => {
		const parts = (parameter.options ?? []) as Array<INodeProperties | INodePropertyCollection>;
		if (parameter.type === 'collection') return [parameter, ...parametersOf(parts as INodeProperties[])];
		if (parameter.type !== 'fixedCollection') return [parameter];
		return [parameter, ...(parts as INodePropertyCollection[]).flatMap(({ values }) => parametersOf(values))];
	});

const parameters = nodes.flatMap(({ description }) => parametersOf(description.properties));
const topLevel = nodes.flatMap(({ description }) => description.properties).filter(({ required }) => required !== true);
const codices = globSync('nodes/**/*.node.json').map((file) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>);
const unique = (names: string[]) => [...new Set(names)].sort();

test('hint-max-length: no hint is longer than 120 characters', () => {
	expect(parameters.filter(({ hint = '' }) => hint.length > 120).map(({ name }) => name)).toEqual([]);
});

test('single-credential-per-node: one choice of Authentication, one credential', () => {
	for (const { description } of nodes) {
		const choices = description.credentials!.map(({ displayOptions }) => displayOptions?.show?.authentication);
		expect(choices).toEqual([['apiKey'], ['oAuth2']]);
	}
});

test('no-logic-or-flow-nodes, valid-codex-categories, no-ai-codex-category, no-codex-subcategories: the nodes are for sales', () => {
	// Under AI, n8n offers the tools of an agent: a set of tools breaks no-ai-codex-category and no-codex-subcategories knowingly.
	const tools = { categories: ['AI', 'Sales'], subcategories: { AI: ['Tools'], Tools: ['Other Tools'] } };
	const others = nodes.slice(1).map(() => ({ categories: ['Sales'], subcategories: undefined }));
	const found = codices.map(({ categories, subcategories }) => ({ categories, subcategories }));
	expect(found).toHaveLength(nodes.length);
	expect(found).toEqual(expect.arrayContaining([tools, ...others]));
	expect(found.filter(({ subcategories }) => subcategories)).toEqual([tools]);
});

test('open-ended-node-fields, broken on purpose: values can also be entered as JSON', () => {
	expect(unique(topLevel.filter(({ type }) => type === 'json').map(({ name }) => name))).toEqual([
		'body', 'fieldsJson', 'headers', 'query',
	]);
});

test.each(globSync('examples/*.json'))('n8n shows no red parameter in the forms of %s', (file) => {
	for (const node of (JSON.parse(readFileSync(file, 'utf8')) as { nodes: INode[] }).nodes) {
		const { description } = nodes.find(({ description: { name } }) => node.type === `n8n-nodes-crm-platform.${name}`) ?? {};
		if (description) expect(NodeHelpers.getNodeParametersIssues(description.properties, node, description)).toBeNull();
	}
});
