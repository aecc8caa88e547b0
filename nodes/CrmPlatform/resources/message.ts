import type { Resource } from '../model';
import { count } from '../operations/count';
import { exportFile } from '../operations/exportFile';
import { get } from '../operations/get';
import { getMany } from '../operations/getMany';
import { importFile } from '../operations/importFile';
import { upsert } from '../operations/upsert';
import { create, deleteRecord, recordAction, update } from '../operations/writeRecord';

export const message: Resource = {
	name: 'Message',
	value: 'message',
	path: '/messages',
	hasLinks: true,
	isUndoable: true,
	isPolled: true,
	operations: [
		recordAction('Cancel message', 'cancel', {
			name: 'Cancel',
			value: 'cancel',
			description: 'Cancel a scheduled message before it is sent',
			leavesTheCrm: false,
		}),
		count('Count messages'),
		upsert('Create or update message'),
		deleteRecord('Delete message'),
		exportFile(),
		get('Get message'),
		getMany('Get many messages'),
		importFile(),
		create('Log incoming message', {
			name: 'Log Incoming',
			value: 'logIncoming',
			description: 'Log a message that was received elsewhere',
			leavesTheCrm: false,
			preset: { direction: 'inbound' },
			without: ['scheduled_at'],
		}),
		recordAction('Reschedule message', 'schedule', {
			name: 'Reschedule',
			value: 'reschedule',
			description: 'Change when a scheduled message is sent',
			leavesTheCrm: true,
			takesValues: true,
		}),
		create('Schedule message', {
			name: 'Schedule',
			value: 'schedule',
			description: 'Create a message to be sent later',
			leavesTheCrm: true,
			preset: { direction: 'outbound' },
			required: ['scheduled_at'],
		}),
		create('Send message', {
			name: 'Send',
			value: 'send',
			description: 'Create a message and send it immediately',
			leavesTheCrm: true,
			preset: { direction: 'outbound' },
			without: ['scheduled_at'],
		}),
		recordAction('Send scheduled message now', 'send', {
			name: 'Send Scheduled Now',
			value: 'sendNow',
			description: 'Send a scheduled message immediately',
			leavesTheCrm: true,
		}),
		update('Update message'),
	],
};
