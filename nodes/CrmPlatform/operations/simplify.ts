import type { IDataObject, INodeProperties } from 'n8n-workflow';

export const simplifyProperty: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

/** The record with the named fields only, in that order. */
export function simplified(record: IDataObject, names: string[]): IDataObject {
	const simple: IDataObject = {};
	// A loop, as 100,000 records make it count.
	for (const name of names) if (record[name] !== undefined) simple[name] = record[name];
	return simple;
}
