import type { INodeCredentialDescription, INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { withoutMembers } from './base/ownMembers';
import type { MenuEntry, Operation, Resource } from './model';
import { alphabetically, neverShown, sharedParameters } from './sharedParameters';
import { choiceProperty, numberProperty, optionsCollection } from './parameters/properties';

/** An entry of the menu and its operations, as far as the parameters depend on them. */
type OfferedEntry = Omit<MenuEntry, 'operations'> & { operations: Array<Omit<Operation, 'prepare'>> };

export const icon = { light: 'file:../../icons/crm-platform.svg', dark: 'file:../../icons/crm-platform.dark.svg' } as const;

export const authentication = choiceProperty('Authentication', 'authentication', 'apiKey', [
	['API Key', 'apiKey', 'Access the whole account with an API key'],
	['OAuth2', 'oAuth2', 'Sign in as a user and access what that user may see'],
]);

/** The credentials of a node, one for each choice of `authentication`. */
export const credentials: INodeCredentialDescription[] = [
	{
		name: 'crmPlatformApi',
		required: true,
		testedBy: 'testCredential',
		displayOptions: { show: { authentication: ['apiKey'] } },
	},
	{
		name: 'crmPlatformOAuth2Api',
		required: true,
		displayOptions: { show: { authentication: ['oAuth2'] } },
	},
];

/** @param first the entry chosen in a new node */
export function propertiesOf(resources: OfferedEntry[], first = 'contact'): INodeProperties[] {
	const offered = resources.map(withActions);
	return [
		authentication,
		choiceProperty('Resource', 'resource', first, resources.map(({ name, value }) => [name, value])),
		allOperations(offered),
		...offered.flatMap(operationProperties),
		...sharedParameters(offered.flatMap(formsOf)),
	];
}

/** The resource with its name in the entries of n8n's list of actions: `Get many contacts`. */
function withActions(resource: OfferedEntry): OfferedEntry {
	const singular = resource.name.toLowerCase();
	const plural = `${singular.replace(/y$/, 'ie')}s`;
	const operations = resource.operations.map((operation) => {
		const { action = '' } = operation.option;
		return { ...operation, option: { ...operation.option, action: action.replace('%s', plural).replace('%', singular) } };
	});
	return { ...resource, operations };
}

const operationProperty = { displayName: 'Operation', name: 'operation', noDataExpression: true, default: 'getMany' };

/** The operations of all resources, for AI builders: n8n 2.41 describes only the first parameter of each name to them. */
function allOperations(resources: OfferedEntry[]): INodeProperties {
	const offered = new Map(resources.flatMap(({ operations }) => operations.map(({ option }) => [option.value, option])));
	return { ...propertyFor(inOrder([...offered.values()])), type: 'options', displayOptions: { show: neverShown } };
}

/**
 * The operations of a resource, first for n8n's list of actions and then for the form. If the form's parameter also named
 * the plain value of the resource, n8n 2.41 would repeat every parameter for AI builders for each resource and operation.
 */
function operationProperties({ value, operations }: OfferedEntry): INodeProperties[] {
	const options = inOrder(operations.map(({ option }) => option));
	const property = propertyFor(options);
	const actions = options.map((option) => withoutMembers(option, 'description'));
	return [
		// This one is first, since n8n 2.41 takes the resource of a human review from the first that has the operation.
		{ ...property, type: 'hidden', options: actions, displayOptions: { show: { resource: [value] } } },
		{ ...property, type: 'options', options, displayOptions: { show: { resource: [{ _cnd: { eq: value } }] } } },
	];
}

/** The choice of an operation, at first the usual one: nobody should begin with *Erase*. */
function propertyFor(options: INodePropertyOptions[]) {
	const usual = [operationProperty.default, 'export'].find((value) => options.some((option) => option.value === value));
	return { ...operationProperty, options, default: usual ?? options[0]?.value ?? '' };
}

const inOrder = <Option extends { name: string }>(options: Option[]): Option[] =>
	options.sort((a, b) => alphabetically(a.name, b.name));

const formsOf = (resource: OfferedEntry) =>
	resource.operations.map((operation) => ({
		resource: resource.value,
		operation: operation.option.value as string,
		parameters: [
			...(operation.isForAllTypes ? [] : recordTypeProperties(resource)),
			...operation.properties(resource),
			optionsCollection([...(operation.options ?? []), maxWait].sort((a, b) => alphabetically(a.displayName, b.displayName))),
		],
	}));

/** Parameters that identify the records: their type, their parents, or neither. */
function recordTypeProperties({ recordTypes, parents = [] }: OfferedEntry): INodeProperties[] {
	if (!recordTypes) return parents;
	const typeProperty = choiceProperty('Record Type', 'kind', 'contact', recordTypes.map(({ name, value }) => [name, value]));
	const parentsOf = ({ value, parents: parentsOfType = [] }: Resource) =>
		parentsOfType.map((parent): INodeProperties => ({ ...parent, displayOptions: { show: { kind: [value] } } }));
	return [typeProperty, ...recordTypes.flatMap(parentsOf)];
}

export const maxWait = numberProperty('Maximum Wait (Seconds)', 'maxWait', 300, {
	typeOptions: { minValue: 0 },
	description: 'How long a request may wait for the rate limit or the CRM. Without it: 5 minutes if somebody waits, or an hour.',
});
