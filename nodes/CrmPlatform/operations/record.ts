import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { path } from '../api/path';
import type { Job, Resource } from '../model';

/** The picker of one record: from a searchable list, or by its id. */
export function recordProperty(resource: Resource): INodeProperties {
	return {
		displayName: resource.name,
		name: 'recordId',
		type: 'resourceLocator',
		default: { mode: 'list', value: '' },
		required: true,
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				typeOptions: { searchListMethod: 'searchRecords', searchable: true },
			},
			{
				displayName: 'By ID',
				name: 'id',
				type: 'string',
				hint: 'The id the service gave the record; Get Many shows it',
			},
		],
	};
}

/** The path of the record picked for an item. */
export function recordPath({ n8n, resource }: Job, item: number): string {
	return `/v1${resource.path}${path`/${recordId(n8n, item)}`}`;
}

function recordId(n8n: IExecuteFunctions, item: number): string {
	const picked: unknown = n8n.getNodeParameter('recordId', item, '', { extractValue: true });
	return typeof picked === 'string' || typeof picked === 'number' ? String(picked).trim() : '';
}
