import type { Resource } from '../model';
import { recordOperations, tagOperations } from '../operations/recordOperations';

export const note: Resource = {
	name: 'Note',
	value: 'note',
	path: '/notes',
	hasLinks: true,
	isUndoable: true,
	isPolled: true,
	operations: [...recordOperations('a note', 'notes'), ...tagOperations],
};
