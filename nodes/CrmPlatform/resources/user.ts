import type { Resource } from '../model';
import { getFixed } from '../operations/getFixed';
import { recordOperations } from '../operations/recordOperations';

export const user: Resource = {
	name: 'User',
	value: 'user',
	path: '/users',
	isUndoable: false,
	isPolled: true,
	operations: [
		...recordOperations('a user', 'users'),
		getFixed('Get the current user', '/users/me', {
			name: 'Get Current',
			value: 'getCurrent',
			description: 'Retrieve the user the credential belongs to',
		}),
	],
};
