import type { Resource } from '../model';
import { pickerProperty } from '../parameters/recordParameters';
import { recordOperations, tagOperations } from '../operations/recordOperations';

export const customObjectRecord: Resource = {
	name: 'Custom Object Record',
	value: 'customObjectRecord',
	path: '/custom-objects/{objectKey}/records',
	parents: [
		{
			...pickerProperty('Custom Object', 'objectKey', 'searchCustomObjects', {
				by: { name: 'key', displayName: 'By Key', hint: 'The key of the custom object, such as cars' },
			}),
			builderHint: { propertyHint: 'For resource customObjectRecord, and for kind customObjectRecord' },
		},
	],
	hasLinks: true,
	isUndoable: true,
	isPolled: true,
	operations: [
		...recordOperations('a custom object record', 'custom object records'),
		...tagOperations,
	],
};
