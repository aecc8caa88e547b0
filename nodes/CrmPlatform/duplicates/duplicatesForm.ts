import type { INodeProperties } from 'n8n-workflow';

import { filtersProperty } from '../parameters/filterParameters';
import { listedChoice } from '../parameters/optionText';
import { fieldsDependOn } from '../parameters/recordParameters';

export const sharedFields = listedChoice(
	{ displayName: 'Same Field Names or IDs', name: 'sameFields', required: true, description: 'Records with the same value in any of these fields are one group. Fields joined by + must all be the same.' },
	'getDuplicateFields',
	fieldsDependOn,
);

export const findProperties: INodeProperties[] = [
	sharedFields,
	filtersProperty({ displayName: 'Filters', name: 'filters', description: 'Compare only records that match all filters' }),
];

export const mergePreview: INodeProperties = {
	displayName: 'Preview',
	name: 'preview',
	type: 'boolean',
	default: true,
	description: 'Whether to only show what would be merged, without writing anything',
};

export const groupIds: INodeProperties = {
	displayName: 'Records',
	name: 'ids',
	type: 'string',
	default: '={{ $json.ids }}',
	required: true,
	description: 'The IDs of the duplicates of this item, as a list or separated by commas. Find returns such a list.',
};

export const survivorRule: INodeProperties = {
	displayName: 'Survivor',
	name: 'survivor',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'Given ID', value: 'id' },
		{ name: 'Most Complete', value: 'complete', description: 'The record with the most fields that have a value' },
		{ name: 'Newest Change', value: 'newest' },
		{ name: 'Oldest', value: 'oldest' },
	],
	default: 'oldest',
	description: 'The record that stays. The others are deleted.',
};

export const survivorId: INodeProperties = {
	displayName: 'Survivor ID',
	name: 'survivorId',
	type: 'string',
	default: '',
	required: true,
	displayOptions: { show: { survivor: ['id'] } },
	description: 'The ID of the record that stays, one of Records',
};

const ruleField = listedChoice({ displayName: 'Field Name or ID', name: 'field', description: 'The field.' }, 'getMergedFields', fieldsDependOn);

const fieldRule: INodeProperties = {
	displayName: 'Value',
	name: 'rule',
	type: 'options',
	options: [
		{ name: 'All', value: 'all', description: 'The entries of all lists' },
		{ name: 'External IDs', value: 'externalIds', description: 'The survivor’s text, and the external IDs of the deleted records' },
		{ name: 'Longest', value: 'longest' },
		{ name: 'Newest', value: 'newest', description: 'That of the record that was changed last' },
		{ name: 'Not Empty', value: 'notEmpty', description: 'The survivor’s, or that of the oldest other record with one' },
		{ name: 'Survivor’s', value: 'survivor' },
	],
	default: 'newest',
};

export const fieldRules: INodeProperties = {
	displayName: 'Field Rules',
	name: 'fieldRules',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add rule',
	default: {},
	options: [{ displayName: 'Rule', name: 'rows', values: [ruleField, fieldRule] }],
	description: 'Which value the survivor gets. Without a rule, lists are united, and other fields are as with Not Empty.',
};

export const maxMerged: INodeProperties = {
	displayName: 'Maximum Deletions',
	name: 'maxDeletions',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 100,
	description: 'The maximum number of records to delete. If more would be deleted, nothing is written.',
};

export const mergeProperties = [mergePreview, groupIds, survivorRule, survivorId, fieldRules, maxMerged];
