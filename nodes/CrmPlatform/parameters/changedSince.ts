import type { INodeProperties } from 'n8n-workflow';

import { booleanProperty, choiceProperty } from './optionText';

/** The parameters that narrow a list to changed records. */
export const changedSinceProperties: INodeProperties[] = [
	choiceProperty('Changed Since', 'changedSince', 'anyTime', [
		['Any Time', 'anyTime', 'Return all records'],
		['Date and Time', 'moment', 'Return records changed at or after a given time'],
	], { description: 'All records, or those changed since a time' }),
	{
		displayName: 'Date and Time',
		name: 'moment',
		type: 'dateTime',
		default: '',
		required: true,
		description: 'Records changed at this time or later, in the workflow’s time zone',
		displayOptions: { show: { changedSince: ['moment'] } },
	},
	booleanProperty('Include Deleted', 'includeDeleted', false, 'Whether to also return deleted records, whose deleted_at is set', {
		displayOptions: { show: { changedSince: ['moment'] } },
	}),
];
