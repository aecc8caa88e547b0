import type { INodeProperties } from 'n8n-workflow';

import { mapperProperty, missingFieldsNotice } from '../parameters/fieldParameters';

export const missingInSource: INodeProperties = {
	displayName: 'When Missing in the Source',
	name: 'missingInSource',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Delete the Record',
			value: 'delete',
			description: 'The input must contain all records of the source',
		},
		{
			name: 'Leave It',
			value: 'leave',
			description: 'The input may contain only some of the records, such as those that changed',
		},
		{
			name: 'Set Fields',
			value: 'set',
			description: 'Mark the record, for example with a status. The input must contain all records of the source.',
		},
	],
	default: 'leave',
	description: 'What to do with records in scope that are missing from the source',
};

const ofMissing = { show: { missingInSource: ['delete', 'set'] } };

const missingValues: INodeProperties = {
	...mapperProperty(
		{
			displayName: 'Fields to Set',
			name: 'missingValues',
			description: 'The values for records that are missing from the source',
		},
		{
			resourceMapperMethod: 'getFieldsToSet',
			fieldWords: { singular: 'field', plural: 'fields' },
			supportAutoMap: false,
		},
	),
	displayOptions: { show: { missingInSource: ['set'] } },
};

export const maxDeletions: INodeProperties = {
	displayName: 'Maximum Deletions',
	name: 'maxDeletions',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 100,
	displayOptions: ofMissing,
	description:
		'The maximum number of missing records to delete or set fields of. If there are more, none is changed and all go to Conflict. This protects the CRM from a broken export.',
};

export const maxDeletionsShare: INodeProperties = {
	displayName: 'Maximum Deletions (%)',
	name: 'maxDeletionsShare',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 100 },
	default: 10,
	displayOptions: ofMissing,
	description: 'The same limit as a percentage of the records in scope that have a key. Both limits apply. 0 allows none. Any other value allows up to three deletions, provided that at least as many records remain.',
};

export const completeInput: INodeProperties = {
	displayName: 'Input Is Complete',
	name: 'completeInput',
	type: 'boolean',
	default: false,
	displayOptions: ofMissing,
	description: 'Whether each run has all records of the source for its Records in Scope. Only needed in a loop or a sub-workflow, where the node otherwise writes nothing.',
};

const setNotice = missingFieldsNotice('missingValues', { missingInSource: ['set'] });

/** What to do with records of the CRM that the source does not have, and the maximum number of them. */
export const missingInSourceProperties = [missingInSource, setNotice, missingValues, maxDeletions, maxDeletionsShare, completeInput];
