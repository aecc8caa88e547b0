import type { INodeProperties } from 'n8n-workflow';

import { mapperProperty } from '../parameters/fields';

export const missingInSource: INodeProperties = {
	displayName: 'When Missing in the Source',
	name: 'missingInSource',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Delete the Record',
			value: 'delete',
			description: 'The input has to be all records of the source',
		},
		{
			name: 'Leave It',
			value: 'leave',
			description: 'The input may be some of the records, such as those that were changed',
		},
		{
			name: 'Set Fields',
			value: 'set',
			description: 'Such as a status. The input has to be all records of the source.',
		},
	],
	default: 'leave',
	description: 'What to do with records in scope that the source does not have',
};

const ofMissing = { show: { missingInSource: ['delete', 'set'] } };

const missingValues: INodeProperties = {
	...mapperProperty(
		{
			displayName: 'Fields to Set',
			name: 'missingValues',
			description: 'The values for records that the source does not have',
		},
		{
			resourceMapperMethod: 'getFieldsToSet',
			fieldWords: { singular: 'field', plural: 'fields' },
			addAllFields: false,
			supportAutoMap: false,
		},
	),
	displayOptions: { show: { missingInSource: ['set'] } },
};

export const mostDeletions: INodeProperties = {
	displayName: 'Most Deletions',
	name: 'mostDeletions',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 100,
	displayOptions: ofMissing,
	description:
		'If more records than this would be deleted or set, none is: they all go to Conflict. It protects the CRM from a broken export.',
};

export const mostDeletionsShare: INodeProperties = {
	displayName: 'Most Deletions (Percent)',
	name: 'mostDeletionsShare',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 100 },
	default: 10,
	displayOptions: ofMissing,
	description: 'The same as a share of the records in scope that have a key; both limits apply',
};

/** What to do with records of the CRM that the source does not have, and how many of them at most. */
export const missingInSourceProperties = [missingInSource, missingValues, mostDeletions, mostDeletionsShare];
