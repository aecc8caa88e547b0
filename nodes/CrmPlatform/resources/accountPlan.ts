import type { Resource } from '../model';
import { getFixed } from '../operations/getFixed';

export const accountPlan: Resource = {
	name: 'Plan',
	value: 'account',
	path: '/account',
	isUndoable: false,
	isPolled: false,
	operations: [
		getFixed('Get the plan and its limits', '/account', {
			name: 'Get',
			value: 'get',
			description: 'Retrieve a single record',
		}),
	],
};
