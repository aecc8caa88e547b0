import type { INodeProperties } from 'n8n-workflow';

/** The parameters of the webhook trigger besides the events. */
export const webhookProperties: INodeProperties[] = [
	{
		displayName: 'Recover Missed Events',
		name: 'recover',
		type: 'boolean',
		default: true,
		description:
			'Whether to catch up on events that occurred while the workflow was inactive or n8n was down, one by one and in order',
	},
	{
		displayName: 'Maximum Age (Hours)',
		name: 'recoverHours',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 720 },
		displayOptions: { show: { recover: [true] } },
		default: 24,
		description: 'How old a missed event may be to still start the workflow',
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
					'Whether test events of the CRM also start the workflow',
			},
		],
	},
];
