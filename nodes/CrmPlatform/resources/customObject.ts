import type { Resource } from '../model';
import { recordOperations } from '../operations/recordOperations';

export const customObject: Resource = {
	name: 'Custom Object',
	value: 'customObject',
	path: '/custom-objects',
	isUndoable: false,
	isPolled: true,
	operations: recordOperations('a custom object', 'custom objects'),
};
