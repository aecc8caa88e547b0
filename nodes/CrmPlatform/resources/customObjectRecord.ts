import type { Resource } from '../model';
import { pickerProperty } from '../parameters/recordParameters';
import { fileOperations, recordOperations, tagOperations } from '../operations/recordOperations';

export const customObjectRecord: Resource = {
	name: 'Custom Object Record',
	value: 'customObjectRecord',
	path: '/custom-objects/{objectKey}/records',
	parents: [
		pickerProperty('Custom Object', 'objectKey', 'searchCustomObjects', {
			by: { name: 'key', displayName: 'By Key', hint: 'The key of the custom object, such as cars' },
		}),
	],
	isLinked: true,
	operations: [...recordOperations, ...fileOperations, ...tagOperations],
};
