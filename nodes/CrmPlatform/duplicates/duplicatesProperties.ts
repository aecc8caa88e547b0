import type { INodeProperties } from 'n8n-workflow';

import { filtersProperty } from '../parameters/listParameters';
import { booleanProperty, choiceProperty, listedChoice, numberProperty, rowsProperty, textProperty } from '../parameters/properties';
import { fieldsDependOn } from '../parameters/recordParameters';
import { mergeRules } from './mergeRules';

export const sharedFields = listedChoice(
	{ displayName: 'Same Field Names or IDs', name: 'sameFields', required: true, description: 'Records with the same value in any of these fields are one group. Fields joined by + must all be the same.' },
	'getDuplicateFields',
	fieldsDependOn,
);

export const findProperties: INodeProperties[] = [
	sharedFields,
	filtersProperty({ displayName: 'Filters', name: 'filters', description: 'Compare only records that match all filters' }),
];

export const mergePreview = booleanProperty('Preview', 'preview', true, 'Whether to only show what would be merged, without writing anything');

export const groupIds = textProperty('Records', 'ids', {
	default: '={{ $json.ids }}',
	required: true,
	description: 'The IDs of the duplicates of this item, as a list or separated by commas. Find returns such a list.',
});

export const survivorRule = choiceProperty('Survivor', 'survivor', 'oldest', [
	['Given ID', 'id'],
	['Most Complete', 'complete', 'The record with the most fields that have a value'],
	['Newest Change', 'newest'],
	['Oldest', 'oldest'],
], { description: 'The record that stays. The others are deleted.' });

export const survivorId = textProperty('Survivor ID', 'survivorId', {
	required: true,
	displayOptions: { show: { survivor: ['id'] } },
	description: 'The ID of the record that stays, one of Records',
});

const ruleField = listedChoice({ displayName: 'Field Name or ID', name: 'field', description: 'The field.' }, 'getMergedFields', fieldsDependOn);

const fieldRule = choiceProperty(
	'Value', 'rule', 'newest',
	Object.entries(mergeRules).map(([value, { option: [label, ...description] }]) => [label, value, ...description]),
	{ noDataExpression: false },
);

export const fieldRules = rowsProperty(
	{
		displayName: 'Field Rules',
		name: 'fieldRules',
		placeholder: 'Add rule',
		description: 'Which value the survivor gets. Without a rule, lists are united, and other fields are as with Not Empty.',
	},
	{ displayName: 'Rule', name: 'rows', values: [ruleField, fieldRule] },
);

export const maxMerged = numberProperty('Maximum Deletions', 'maxDeletions', 100, {
	typeOptions: { minValue: 0 },
	description: 'The maximum number of records to delete. If more would be deleted, nothing is written.',
});

export const mergeProperties = [mergePreview, groupIds, survivorRule, survivorId, fieldRules, maxMerged];
