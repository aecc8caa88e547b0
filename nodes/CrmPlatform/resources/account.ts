import type { Resource } from '../model';
import { getFixed } from '../operations/getFixed';

export const account: Resource = {
	name: 'Plan',
	value: 'account',
	path: '/account',
	operations: [
		getFixed('Get the plan', '/account', {
			name: 'Get',
			value: 'get',
			description: 'Retrieve the plan of the account and its limits',
		}),
	],
};
