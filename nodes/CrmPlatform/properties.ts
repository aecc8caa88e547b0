import type { INodeProperties } from 'n8n-workflow';

import type { Operation, Resource } from './model';

/** Which credential signs the node's requests. */
const authentication: INodeProperties = {
	displayName: 'Authentication',
	name: 'authentication',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'API Key', value: 'apiKey', description: 'The whole account, with a key' },
		{ name: 'OAuth2', value: 'oAuth2', description: 'What one user may see, after signing in' },
	],
	default: 'apiKey',
};

/** The parameters n8n shows for the given kinds of records. */
export function propertiesOf(resources: Resource[]): INodeProperties[] {
	return [
		authentication,
		{
			displayName: 'Resource',
			name: 'resource',
			type: 'options',
			noDataExpression: true,
			options: resources.map(({ name, value }) => ({ name, value })),
			default: 'contact',
		},
		...resources.map(operationProperty),
		...resources.flatMap((resource) =>
			resource.operations.flatMap((operation) =>
				operation.properties(resource).map((property) => shownFor(resource, operation, property)),
			),
		),
	];
}

function operationProperty(resource: Resource): INodeProperties {
	return {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: [resource.value] } },
		options: resource.operations.map(({ option }) => option),
		default: 'getMany',
	};
}

function shownFor(
	resource: Resource,
	operation: Operation,
	property: INodeProperties,
): INodeProperties {
	const show = {
		resource: [resource.value],
		operation: [operation.option.value],
		...property.displayOptions?.show,
	};
	return { ...property, displayOptions: { show } };
}
