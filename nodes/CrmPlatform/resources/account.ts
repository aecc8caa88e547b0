import type { Resource } from '../model';
import { getFixed } from '../operations/getFixed';

export const account: Resource = {
	name: 'Plan and Limits',
	value: 'account',
	path: '/account',
	operations: [
		getFixed('Get the plan and limits', '/account', {
			name: 'Get',
			value: 'get',
			description: 'Read the plan of the account and its limits',
		}),
	],
};
