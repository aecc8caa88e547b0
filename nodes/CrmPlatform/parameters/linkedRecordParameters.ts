import type { INodeProperties } from 'n8n-workflow';

import { listedChoice } from './optionText';
import { fieldsDependOn, linkedOrNewPicker } from './recordParameters';

/**
 * Other records, picked from searchable lists, which n8n's mapper does not offer.
 *
 * @param property its name is the mapper's followed by `Linked`
 */
export function linkedProperty(
	property: Pick<INodeProperties, 'displayName' | 'name' | 'description'>,
): INodeProperties {
	return {
		...property,
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		placeholder: 'Add record',
		default: {},
		options: [
			{
				displayName: 'Record',
				name: 'records',
				values: [
					listedChoice({ displayName: 'Field Name or ID', name: 'field' }, 'getLinks', fieldsDependOn),
					linkedOrNewPicker,
				],
			},
		],
	};
}
