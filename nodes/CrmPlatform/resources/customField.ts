import type { Resource } from '../model';
import { recordOperations } from '../operations/recordOperations';

export const customField: Resource = {
	name: 'Custom Field',
	value: 'customField',
	path: '/custom-fields',
	operations: [...recordOperations('a custom field', 'custom fields')],
};
