import type { Resource } from '../model';
import { getFixed } from '../operations/getFixed';

export const account: Resource = {
	name: 'Account',
	value: 'account',
	path: '/account',
	operations: [
		getFixed('Get the account', '/account', {
			name: 'Get',
			value: 'get',
			description: 'Read the account’s plan and limits',
		}),
	],
};
