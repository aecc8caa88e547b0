import type { Resource } from '../model';
import { fileOperations, recordOperations } from '../operations/recordOperations';

export const pipeline: Resource = {
	name: 'Pipeline',
	value: 'pipeline',
	path: '/pipelines',
	operations: [...recordOperations, ...fileOperations],
};
