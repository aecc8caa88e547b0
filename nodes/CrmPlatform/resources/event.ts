import type { Resource } from '../model';
import { get } from '../operations/get';
import { getMany } from '../operations/getMany';

export const event: Resource = {
	name: 'Event',
	value: 'event',
	path: '/events',
	listsChanges: false,
	operations: [get, getMany],
};
