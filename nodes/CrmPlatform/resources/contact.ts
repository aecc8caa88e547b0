import type { Resource } from '../model';
import { recordOperations, tagOperations } from '../operations/recordOperations';

export const contact: Resource = {
	name: 'Contact',
	value: 'contact',
	path: '/contacts',
	hasLinks: true,
	isUndoable: true,
	isPolled: true,
	operations: [...recordOperations('a contact', 'contacts'), ...tagOperations],
};
