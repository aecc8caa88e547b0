import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

export const simplifyProperty: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

/** Option: the fields that come out, where the user wants them and no others. */
export const outputFieldsOption: INodeProperties = {
	displayName: 'Output Field Names or IDs',
	name: 'outputFields',
	type: 'multiOptions',
	typeOptions: { loadOptionsMethod: 'getOutputFields', loadOptionsDependsOn: ['resource'] },
	default: [],
	description:
		'The fields that come out, instead of the simplified or the whole record. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
};

/** The fields the user has chosen to come out; undefined where none are chosen. */
export function chosenFields(n8n: IExecuteFunctions, item: number): string[] | undefined {
	const given: unknown = n8n.getNodeParameter('options.outputFields', item, []);
	const names = Array.isArray(given) ? given.map(String) : String(given).split(',');
	const chosen = names.map((name) => name.trim()).filter((name) => name !== '');
	return chosen.length > 0 ? chosen : undefined;
}

/** The record with the named fields only, in that order. */
export function simplified(record: IDataObject, names: string[]): IDataObject {
	const simple: IDataObject = {};
	// A loop, as 100,000 records make it count.
	for (const name of names) if (record[name] !== undefined) simple[name] = record[name];
	return simple;
}
