import type { Resource } from '../model';
import { sendRequest } from '../operations/sendRequest';

export const apiRequest: Resource = {
	name: 'API Request',
	value: 'apiRequest',
	path: '/',
	isUndoable: false,
	isPolled: false,
	operations: [sendRequest()],
};
