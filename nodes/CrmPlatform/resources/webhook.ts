import type { Resource } from '../model';
import { recordAction } from '../operations/recordAction';
import { create } from '../operations/create';
import { deleteRecord } from '../operations/delete';
import { get } from '../operations/get';
import { getMany } from '../operations/getMany';
import { update } from '../operations/update';

export const webhook: Resource = {
	name: 'Webhook',
	value: 'webhook',
	path: '/webhooks',
	operations: [
		create('Create a webhook'),
		deleteRecord('Delete a webhook'),
		get('Get a webhook'),
		getMany('Get many webhooks'),
		recordAction(
			'Recover the events of a webhook',
			'recover',
			{
				name: 'Recover Events',
				value: 'recover',
				description: 'Deliver again what did not arrive',
			},
			true,
		),
		recordAction('Rotate the secret of a webhook', 'rotate-secret', {
			name: 'Rotate Secret',
			value: 'rotateSecret',
			description: 'Replace the secret deliveries are signed with',
		}),
		recordAction('Send a test event to a webhook', 'test', {
			name: 'Send Test Event',
			value: 'test',
			description: 'Have the service deliver an event that means nothing',
		}),
		update('Update a webhook'),
	],
};
