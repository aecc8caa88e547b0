import type { INodeProperties, IExecuteFunctions } from 'n8n-workflow';

import { chosenOption, listedChoice } from './optionText';

export const simplifyProperty: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	// Nor does n8n then offer to let a model decide.
	noDataExpression: true,
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

/** The option that outputs the chosen fields instead of the simplified or the whole record. */
export const outputFieldsOption = listedChoice({ displayName: 'Output Field Names or IDs', name: 'outputFields' }, 'getOutputFields', ['resource', 'kind']);

export const addNamesOption: INodeProperties = {
	displayName: 'Names of Linked Records',
	name: 'addNames',
	type: 'boolean',
	noDataExpression: true,
	default: true,
	description: 'Whether to add names beside IDs, such as company_name',
};

/** How many records are output: n8n stores each item that a node outputs. */
export const outputOption: INodeProperties = {
	displayName: 'Return',
	name: 'output',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'All Items', value: 'items' },
		{ name: 'Summary', value: 'summary', description: 'One item with the counts, the failures, and the first and last ID' },
	],
	default: 'items',
	description: 'With a summary, n8n stores a single item',
};

const batchSizeOption: INodeProperties = {
	displayName: 'Batch Size',
	name: 'batchSize',
	type: 'number',
	noDataExpression: true,
	typeOptions: { minValue: 0 },
	default: 0,
	description: 'Items per request; 0 is as many as the CRM allows',
};

export const previewOption: INodeProperties = {
	displayName: 'Preview',
	name: 'preview',
	type: 'boolean',
	default: true,
	description: 'Whether to only return what would change',
};

/** Options of all operations that write and return the record. */
export const writeOptions: INodeProperties[] = [outputOption, previewOption, addNamesOption];

/** Options of operations that write in batches. */
export const batchOptions: INodeProperties[] = [batchSizeOption, ...writeOptions];

/** Whether a summary is output instead of all items. @throws Error in the user's words if the option has an invalid value */
export const isSummary = (n8n: IExecuteFunctions): boolean => chosenOption(n8n, 0, outputOption, 'options.output') === 'summary';
