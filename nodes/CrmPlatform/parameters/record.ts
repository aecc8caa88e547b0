import type { INodeProperties } from 'n8n-workflow';

import { path } from '../api/http/path';
import { collectionPath, pickedId } from '../mapping/picked';
import type { Execution, Resource } from '../model';

/** What the fields of a record depend on; the last is what records of custom objects belong to. */
export const fieldsDependOn = ['resource', 'operation', 'objectKey.value'];

/** The picker of the record an operation is about. */
export function recordProperty(resource: Resource): INodeProperties {
	return pickerProperty(resource.name, 'recordId', 'searchRecords');
}

const byId = {
	displayName: 'By ID',
	hint: 'The id the service gave the record; Get Many shows it',
};

/**
 * The picker of one record: from a searchable list, or by what tells it from others.
 *
 * @param method the picker that searches the records
 * @param more whether it may be left out, and what it is entered by, where that is not its id
 */
export function pickerProperty(
	displayName: string,
	name: string,
	method: string,
	{ isOptional = false, by = byId }: { isOptional?: boolean; by?: typeof byId } = {},
): INodeProperties {
	return {
		displayName,
		name,
		type: 'resourceLocator',
		default: { mode: 'list', value: '' },
		...(!isOptional && { required: true }),
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				typeOptions: { searchListMethod: method, searchable: true },
			},
			{ ...by, name: 'id', type: 'string' },
		],
	};
}

/** Where a record is. */
export interface RecordPlace {
	collection: string;
	id: string;
	/** Of the record itself. */
	path: string;
}

/** The record picked for an item. */
export function recordAt(job: Execution, item: number): RecordPlace {
	const collection = collectionPath(job, item);
	const id = pickedId(job.n8n, 'recordId', item);
	return { collection, id, path: collection + path`/${id}` };
}
