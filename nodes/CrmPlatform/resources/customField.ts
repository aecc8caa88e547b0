import type { Resource } from '../model';
import { fileOperations, recordOperations } from '../operations/recordOperations';

export const customField: Resource = {
	name: 'Custom Field',
	value: 'customField',
	path: '/custom-fields',
	operations: [...recordOperations, ...fileOperations],
};
