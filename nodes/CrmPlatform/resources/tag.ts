import type { Resource } from '../model';
import { fileOperations, recordOperations } from '../operations/recordOperations';

export const tag: Resource = {
	name: 'Tag',
	value: 'tag',
	path: '/tags',
	operations: [...recordOperations, ...fileOperations],
};
