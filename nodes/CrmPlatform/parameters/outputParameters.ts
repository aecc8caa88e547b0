import type { INodeProperties } from 'n8n-workflow';

export const simplifyProperty: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

/** The option that outputs the chosen fields instead of the simplified or the whole record. */
export const outputFieldsOption: INodeProperties = {
	displayName: 'Output Field Names or IDs',
	name: 'outputFields',
	type: 'multiOptions',
	typeOptions: { loadOptionsMethod: 'getOutputFields', loadOptionsDependsOn: ['resource', 'kind'] },
	default: [],
	description: 'Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
};
