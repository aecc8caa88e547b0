import type { INodeProperties } from 'n8n-workflow';

import type { Menu, Operation, Resource } from './model';

/** An entry of the menu and its operations, as far as the parameters depend on them. */
type OfferedResource = Omit<Menu, 'operations'> & { operations: OfferedOperation[] };
type OfferedOperation = Pick<Operation, 'option' | 'options'> & {
	properties(resource: Resource): INodeProperties[];
};

/** Which credential signs the node's requests. */
export const authentication: INodeProperties = {
	displayName: 'Authentication',
	name: 'authentication',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'API Key', value: 'apiKey', description: 'Access the whole account with an API key' },
		{ name: 'OAuth2', value: 'oAuth2', description: 'Sign in as a user and access what that user may see' },
	],
	default: 'apiKey',
};

/**
 * The parameters that n8n shows for these kinds of records.
 *
 * @param first the entry chosen in a new node
 */
export function propertiesOf(resources: OfferedResource[], first = 'contact'): INodeProperties[] {
	return [
		authentication,
		{
			displayName: 'Resource',
			name: 'resource',
			type: 'options',
			noDataExpression: true,
			options: resources.map(({ name, value }) => ({ name, value })),
			default: first,
		},
		...resources.map(operationProperty),
		...merged(resources.flatMap(shownProperties)),
	];
}

function operationProperty({ value, operations }: OfferedResource): INodeProperties {
	const options = operations
		.map(({ option }) => option)
		.sort((one, other) => alphabetically(one.name, other.name));
	const property: INodeProperties = {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: [value] } },
		options,
		default: 'getMany',
	};
	const lists = options.some((option) => option.value === property.default);
	return lists ? property : { ...property, default: options[0]?.value ?? '' };
}

/** By character: the names are English, and to load a locale's rules takes 7 ms when n8n loads the node. */
const alphabetically = (one: string, other: string): number => (one < other ? -1 : 1);

/** A parameter of one operation on one kind of record. */
interface Shown {
	resource: string;
	operation: string;
	/** Its place among the operation's parameters. */
	place: number;
	property: INodeProperties;
}

function shownProperties(resource: OfferedResource): Shown[] {
	return resource.operations.flatMap((operation) =>
		[...kindProperties(resource), ...operation.properties(resource as Resource), optionsProperty(operation)].map(
			(property, place) => ({
				resource: resource.value,
				operation: operation.option.value as string,
				place,
				property,
			}),
		),
	);
}

/** What says which records the operation is about: their kind, their parents, or neither. */
function kindProperties({ kinds, parents = [] }: OfferedResource): INodeProperties[] {
	if (!kinds) return parents;
	const kind: INodeProperties = {
		displayName: 'Kind of Records',
		name: 'kind',
		type: 'options',
		noDataExpression: true,
		options: kinds.map(({ name, value }) => ({ name, value })),
		default: 'contact',
	};
	const parentsOf = ({ value, parents: own = [] }: Resource) =>
		own.map((parent): INodeProperties => ({ ...parent, displayOptions: { show: { kind: [value] } } }));
	return [kind, ...kinds.flatMap(parentsOf)];
}

/**
 * Parameters that are the same for several kinds of records, once. n8n shows parameters in the
 * order of this list, so they are put by operation and place.
 */
function merged(all: Shown[]): INodeProperties[] {
	const operations = [...new Set(all.map(({ operation }) => operation))];
	const groups = new Map<string, Shown[]>();
	for (const shown of all) {
		const { operation, place, property } = shown;
		const key = JSON.stringify([operations.indexOf(operation), place, property]);
		groups.set(key, [...(groups.get(key) ?? []), shown]);
	}
	const order = ({ operation, place }: Shown) => operations.indexOf(operation) * 100 + place;
	return [...groups.values()]
		.sort(([one], [other]) => order(one!) - order(other!))
		.map((group) => {
			const { operation, property } = group[0]!;
			const resource = group.map((shown) => shown.resource);
			const show = { resource, operation: [operation], ...property.displayOptions?.show };
			return { ...property, displayOptions: { ...property.displayOptions, show } };
		});
}

/** Optional parameters, besides those of the operation. */
function optionsProperty({ options = [] }: OfferedOperation): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: [...options, maxWait].sort((one, other) =>
			alphabetically(one.displayName, other.displayName),
		),
	};
}

export const maxWait: INodeProperties = {
	displayName: 'Longest Wait (Seconds)',
	name: 'maxWait',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 300,
	description:
		'How long a request may wait because of the rate limit or an unavailable service before it fails',
};
