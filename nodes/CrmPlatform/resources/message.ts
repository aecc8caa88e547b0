import type { Resource } from '../model';
import { recordAction } from '../operations/recordAction';
import { create } from '../operations/create';
import { deleteRecord } from '../operations/delete';
import { get } from '../operations/get';
import { getMany } from '../operations/getMany';
import { update } from '../operations/update';
import { upsert } from '../operations/upsert';

export const message: Resource = {
	name: 'Message',
	value: 'message',
	path: '/messages',
	isLinked: true,
	operations: [
		recordAction('Cancel a message', 'cancel', {
			name: 'Cancel',
			value: 'cancel',
			description: 'Keep a scheduled message from being sent',
		}),
		upsert('Create or update a message'),
		deleteRecord('Delete a message'),
		get('Get a message'),
		getMany('Get many messages'),
		create('Log an incoming message', {
			name: 'Log Incoming',
			value: 'logIncoming',
			description: 'Record a message that came in elsewhere',
			preset: { direction: 'inbound' },
			without: ['scheduled_at'],
		}),
		recordAction(
			'Reschedule a message',
			'schedule',
			{
				name: 'Reschedule',
				value: 'reschedule',
				description: 'Send a scheduled message at another time',
			},
			true,
		),
		create('Schedule a message', {
			name: 'Schedule',
			value: 'schedule',
			description: 'Write a message that is sent later',
			preset: { direction: 'outbound' },
			required: ['scheduled_at'],
		}),
		create('Send a message', {
			name: 'Send',
			value: 'send',
			description: 'Write a message and send it at once',
			preset: { direction: 'outbound' },
			without: ['scheduled_at'],
		}),
		recordAction('Send a scheduled message now', 'send', {
			name: 'Send Scheduled Now',
			value: 'sendNow',
			description: 'Send a scheduled message at once',
		}),
		update('Update a message'),
	],
};
