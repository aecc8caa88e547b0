import type { Resource } from '../model';
import { fileOperations, recordOperations, tagOperations } from '../operations/recordOperations';

export const note: Resource = {
	name: 'Note',
	value: 'note',
	path: '/notes',
	isLinked: true,
	operations: [...recordOperations, ...fileOperations, ...tagOperations],
};
