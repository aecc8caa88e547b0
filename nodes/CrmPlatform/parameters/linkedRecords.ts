import type { INodeProperties } from 'n8n-workflow';

import { fieldsDependOn, pickerProperty } from './record';

/**
 * Other records to be picked from searchable lists, which n8n's mapper does not have.
 *
 * @param name the mapper's, with `Linked` behind it
 */
export function linkedProperty(
	property: Pick<INodeProperties, 'displayName' | 'name' | 'description'>,
): INodeProperties {
	return {
		...property,
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		placeholder: 'Add Record',
		default: {},
		options: [
			{
				displayName: 'Record',
				name: 'records',
				values: [
					{
						displayName: 'Field Name or ID',
						name: 'field',
						type: 'options',
						typeOptions: {
							loadOptionsMethod: 'getLinks',
							loadOptionsDependsOn: fieldsDependOn,
						},
						default: '',
						description:
							'What the record is to this one. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
					},
					pickerProperty('Record', 'record', 'searchLinked'),
				],
			},
		],
	};
}
