import type { INodeProperties } from 'n8n-workflow';

/** What the trigger with a webhook asks for beside the events. */
export const webhookProperties: INodeProperties[] = [
	{
		displayName: 'Recover Missed Events',
		name: 'recover',
		type: 'boolean',
		default: true,
		description:
			'Whether events that came while the workflow was inactive or n8n was down start it afterwards, one by one and in sequence',
	},
	{
		displayName: 'Not Older Than (Hours)',
		name: 'recoverHours',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 720 },
		displayOptions: { show: { recover: [true] } },
		default: 24,
		description: 'Events that were missed longer ago stay missed',
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: [
			{
				displayName: 'Test Events',
				name: 'testEvents',
				type: 'boolean',
				default: false,
				description:
					'Whether the event that the service sends to test a subscription starts the workflow as well',
			},
		],
	},
];
