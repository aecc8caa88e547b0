import type { INodeProperties } from 'n8n-workflow';

import type { Operation, Resource } from './model';

/** The parameters n8n shows for the given kinds of records. */
export function propertiesOf(resources: Resource[]): INodeProperties[] {
	return [
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
