import type { Resource } from '../model';
import { recordOperations } from '../operations/recordOperations';

export const pipeline: Resource = {
	name: 'Pipeline',
	value: 'pipeline',
	path: '/pipelines',
	isUndoable: false,
	isPolled: true,
	operations: recordOperations('a pipeline', 'pipelines'),
};
