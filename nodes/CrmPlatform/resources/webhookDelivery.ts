import type { Resource } from '../model';
import { recordAction } from '../operations/recordAction';
import { get } from '../operations/get';
import { getMany } from '../operations/getMany';
import { pickerProperty } from '../parameters/recordParameters';

export const webhookDelivery: Resource = {
	name: 'Webhook Delivery',
	value: 'webhookDelivery',
	path: '/webhooks/{webhookId}/deliveries',
	parents: [pickerProperty('Webhook', 'webhookId', 'searchWebhooks')],
	isUndoable: false,
	isPolled: false,
	operations: [
		get('Get a webhook delivery'),
		getMany('Get many webhook deliveries', { listsChanges: false, sorts: false }),
		recordAction('Retry a webhook delivery', 'retry', {
			name: 'Retry',
			value: 'retry',
			description: 'Send the event again, even if it was delivered before',
			leavesTheCrm: false,
		}),
	],
};
