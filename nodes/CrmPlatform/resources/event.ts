import type { Resource } from '../model';
import { get } from '../operations/get';
import { getMany } from '../operations/getMany';

export const event: Resource = {
	name: 'Event',
	value: 'event',
	path: '/events',
	isUndoable: false,
	isPolled: false,
	operations: [get('Get an event'), getMany('Get many events', { listsChanges: false })],
};
