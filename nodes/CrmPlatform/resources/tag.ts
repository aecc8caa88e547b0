import type { Resource } from '../model';
import { recordOperations } from '../operations/recordOperations';

export const tag: Resource = {
	name: 'Tag',
	value: 'tag',
	path: '/tags',
	isUndoable: false,
	isPolled: true,
	operations: recordOperations('a tag', 'tags'),
};
