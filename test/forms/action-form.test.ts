import {
	type INode, type INodeParameters, type INodeProperties, type INodePropertyOptions, type INodeType, NodeHelpers,
} from 'n8n-workflow';

import { credentials } from '../../nodes/CrmPlatform/actionProperties';
import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { CrmPlatformAdmin } from '../../nodes/CrmPlatform/CrmPlatformAdmin.node';
import type { MenuEntry } from '../../nodes/CrmPlatform/model';
import { adminMenu, everydayMenu } from '../../nodes/CrmPlatform/resources';
import { sharedParameters } from '../../nodes/CrmPlatform/sharedParameters';

const nodes: Array<[string, INodeType, MenuEntry[]]> = [
	['CRM Platform', new CrmPlatform(), everydayMenu],
	['CRM Platform Admin', new CrmPlatformAdmin(), adminMenu],
];
const optionsOf = ({ options }: INodeProperties) => options as INodePropertyOptions[];
const valuesOf = (properties: INodeProperties[], chosen: INodeParameters) =>
	NodeHelpers.getNodeParameters(properties, chosen, true, false, null, null)!;
/** The parameters or choices that a form shows. */
const displayed = <Shown extends INodeProperties | INodePropertyOptions>(list: Shown[], values: INodeParameters): Shown[] =>
	list.filter((entry) => NodeHelpers.displayParameter(values, entry, null, null));

test('CRM Platform, which spells out its credentials, has the same ones as the other nodes', () => {
	expect(new CrmPlatform().description.credentials).toEqual(credentials);
});

describe.each(nodes)('The form of %s', (_name, { description }, menu) => {
	const { properties } = description;
	const operations = properties.filter(({ name }) => name === 'operation');
	const each = menu.flatMap((entry) =>
		entry.operations.map((operation) => ({ entry, operation, resource: entry.value, value: String(operation.option.value) })),
	);

	test.each(menu)('offers the operations of $name, and selects one of them first', ({ value: resource, operations: menuOperations }) => {
		const values = valuesOf(properties, { resource });
		const visibleOperations = displayed(operations, values).filter(({ type }) => type !== 'hidden');
		const offered = visibleOperations.map((property) => optionsOf(property).map((option) => option.value));
		expect(offered.map((choices) => new Set(choices))).toEqual([new Set(menuOperations.map(({ option }) => option.value))]);
		expect(offered[0]).toContain(values.operation);
		expect(
			NodeHelpers.getNodeParameters(properties, { resource, operation: values.operation! }, false, false, null, null),
		).not.toHaveProperty('operation');
	});

	test.each(each)('has the parameters of $resource: $value, in their order', ({ entry, operation, resource, value }) => {
		const values = valuesOf(properties, { resource, operation: value });
		const expected = displayed([...(entry.parents ?? []), ...operation.properties(entry)], values);
		const around = ['authentication', 'resource', 'operation', 'kind', 'options'];
		const form = displayed(properties, values).filter(
			({ name, displayOptions }) => !around.includes(name) && !displayOptions?.show?.['@tool'],
		);
		expect(form.map(({ name, displayName, required }) => [name, displayName, required])).toEqual(
			expected.map(({ name, displayName, required }) => [name, displayName, required]),
		);
	});

	test.each(each)('has the options of $resource: $value, and no others', ({ operation, resource, value }) => {
		const values = valuesOf(properties, { resource, operation: value });
		const options = properties.find(({ name }) => name === 'options')!.options as INodeProperties[];
		const optionNames = (operation.options ?? []).filter(({ name }) => name !== 'emptyCells').map(({ name }) => name);
		const offered = options.filter((option) => option.name !== 'emptyCells' && NodeHelpers.displayParameter({}, option, null, null, values));
		expect(offered.map(({ name }) => name).sort()).toEqual([...optionNames, 'maxWait'].sort());
	});

	test.each(each)('keeps the options of $resource: $value when n8n loads the workflow', ({ entry, operation, resource, value }) => {
		const options = Object.fromEntries((operation.options ?? []).map((option) => [option.name, option.default ?? '']));
		const mapsFields = operation.properties(entry).some(({ name }) => name === 'fieldsMode');
		const stored = { resource, operation: value, ...(mapsFields && { fieldsMode: 'automatic' }), options } as INodeParameters;
		const loaded = NodeHelpers.getNodeParameters(properties, stored, true, false, null, null);
		expect(loaded).toMatchObject({ options });
	});

	test('never shows, validates or stores what only AI builders read: all operations, and parameters that differ by form', () => {
		const unseen = properties.filter(({ displayOptions }) => displayOptions?.show?.['@version']);
		expect(unseen.map(({ name }) => name)).toEqual(expect.arrayContaining(['operation', 'recordId']));
		const visibilities = ['contact', '={{ $json.kind }}', 'unknown'].flatMap((resource) =>
			[0, 1, 1.1, 2, undefined].flatMap((typeVersion) => unseen.map((property) =>
				NodeHelpers.displayParameter({ resource, operation: '={{ $json.do }}' }, property, { typeVersion } as INode, description))),
		);
		expect(new Set(visibilities)).toEqual(new Set([false]));
		// Nor does it change what n8n stores of a workflow, or which issues it finds.
		const without = properties.filter((property) => !unseen.includes(property));
		const stored = [
			...each.map(({ resource, value }): INodeParameters => ({ resource, operation: value })),
			{ resource: '={{ $json.kind }}', operation: '={{ $json.do }}' },
			{ operation: 'create' },
		];
		for (const parameters of stored) {
			const node = { name: 'Node', type: 'crm', typeVersion: 1, parameters } as INode;
			const stateOf = (list: INodeProperties[]) => [
				...[true, false].map((defaults) => NodeHelpers.getNodeParameters(list, parameters, defaults, false, node, description)),
				NodeHelpers.getNodeParametersIssues(list, node, description),
			];
			expect(stateOf(properties)).toEqual(stateOf(without));
		}
	});

	test('matches the preset of n8n’s list of actions: each operation of each record type by its own name', () => {
		// n8n 2.41's editor uses the first parameter for the resource, whether it is shown or not.
		const recordTypes = optionsOf(properties.find(({ name }) => name === 'resource')!);
		const actions = recordTypes.flatMap(({ value: resource }) => {
			const { displayOptions, options } = operations.find(
				({ displayOptions: { show } = {} }) => !show?.['@version'] && show?.resource?.includes(String(resource)),
			)!;
			const preset = Object.fromEntries(Object.entries(displayOptions!.show!).map(([name, values]) => [name, values?.[0]]));
			return (options as INodePropertyOptions[]).map(({ action, value }) => ({ action, operation: value, ...preset }));
		});
		const expected = each.map(({ entry: { name }, operation: { option }, resource }) => {
			const [singular, plural] = [name.toLowerCase(), `${name.toLowerCase()}s`.replace(/ys$/, 'ies')];
			return { action: option.action!.replace('%s', plural).replace('%', singular), operation: option.value, resource };
		});
		expect(actions).toHaveLength(expected.length);
		expect(actions).toEqual(expect.arrayContaining(expected));
	});
});

test('an operation has one name and one description, whatever record type it is for', () => {
	for (const menu of [everydayMenu, adminMenu]) {
		const textsByOperation = new Map<unknown, Set<string>>();
		for (const { option } of menu.flatMap(({ operations }) => operations)) {
			textsByOperation.set(option.value, (textsByOperation.get(option.value) ?? new Set()).add(`${option.name}: ${option.description}`));
		}
		expect([...textsByOperation.values()].filter((texts) => texts.size > 1)).toEqual([]);
	}
});

test('forms whose parameters are in different orders are refused', () => {
	const text = (name: string): INodeProperties => ({ displayName: name, name, type: 'string', default: '' });
	const form = (resource: string, ...names: string[]) => ({ resource, operation: 'get', parameters: names.map(text) });
	expect(sharedParameters([form('one', 'a', 'b'), form('other', 'b', 'c')]).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
	expect(() => sharedParameters([form('one', 'a', 'b'), form('other', 'b', 'a')])).toThrow('order');
});
