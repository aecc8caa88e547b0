import type { Resource } from '../model';
import { recordOperations } from '../operations/recordOperations';

export const customField: Resource = {
	name: 'Custom Field',
	value: 'customField',
	path: '/custom-fields',
	isUndoable: false,
	isPolled: true,
	operations: recordOperations('a custom field', 'custom fields'),
};
