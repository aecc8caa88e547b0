import type { INodeProperties } from 'n8n-workflow';

/** The parameters that narrow a list to changed records. */
export const changedSinceProperties: INodeProperties[] = [
	{
		displayName: 'Changed Since',
		name: 'changedSince',
		type: 'options',
		noDataExpression: true,
		default: 'anyTime',
		description: 'All records, or those changed since a time',
		options: [
			{ name: 'Any Time', value: 'anyTime', description: 'Return all records' },
			{
				name: 'Date and Time',
				value: 'moment',
				description: 'Return records changed at or after a given time',
			},
		],
	},
	{
		displayName: 'Date and Time',
		name: 'moment',
		type: 'dateTime',
		default: '',
		required: true,
		description: 'Records changed at this time or later, in the workflow’s time zone',
		displayOptions: { show: { changedSince: ['moment'] } },
	},
	{
		displayName: 'Include Deleted',
		name: 'includeDeleted',
		type: 'boolean',
		default: false,
		description: 'Whether to also return deleted records, whose deleted_at is set',
		displayOptions: { show: { changedSince: ['moment'] } },
	},
];
