import type { Operation } from '../model';
import { get } from '../operations/get';
import { getMany } from '../operations/getMany';
import { create, deleteRecord, recordAction, update } from '../operations/writeRecord';

export const webhookOperations: Operation[] = [
	create('Create webhook'),
	deleteRecord('Delete webhook'),
	get('Get webhook'),
	getMany('Get many webhooks'),
	recordAction('Recover events of webhook', 'recover', {
		name: 'Recover Events',
		value: 'recover',
		description: 'Redeliver the events that could not be delivered',
		leavesTheCrm: false,
		output: null,
		takesValues: true,
	}),
	recordAction('Rotate secret of webhook', 'rotate-secret', {
		name: 'Rotate Secret',
		value: 'rotateSecret',
		description: 'Replace the secret that deliveries are signed with',
		leavesTheCrm: false,
	}),
	recordAction('Send test event to webhook', 'test', {
		name: 'Send Test Event',
		value: 'test',
		description: 'Send a test event to the webhook',
		leavesTheCrm: false,
		output: null,
	}),
	update('Update webhook'),
];
