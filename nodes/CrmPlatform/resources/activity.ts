import type { Resource } from '../model';
import { recordOperations, tagOperations } from '../operations/recordOperations';

export const activity: Resource = {
	name: 'Logged Activity',
	value: 'activity',
	path: '/activities',
	hasLinks: true,
	isUndoable: true,
	isPolled: true,
	operations: [...recordOperations('an activity', 'activities'), ...tagOperations],
};
