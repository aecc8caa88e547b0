import type { INodeProperties } from 'n8n-workflow';

import type { Resource } from '../model';
import { pickerProperty } from '../parameters/recordParameters';

export const undoPreview: INodeProperties = {
	displayName: 'Preview',
	name: 'preview',
	type: 'boolean',
	default: true,
	description: 'Whether to only show what would be undone, without writing anything',
	builderHint: { propertyHint: 'For importFile: whether to only check the file; false if absent' },
};

export const undoOf: INodeProperties = {
	displayName: 'Undo Changes By',
	name: 'undoOf',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'A User or API Key', value: 'actor' },
		{ name: 'A Workflow', value: 'workflow' },
		{ name: 'All Workflows of This Instance', value: 'instance' },
		{ name: 'An Execution', value: 'execution' },
	],
	default: 'execution',
	description: 'Who or what made the changes to undo',
};

export const undoId: INodeProperties = {
	...pickerProperty('Which One', 'undoId', 'searchCausers', {
		by: { name: 'id', displayName: 'By ID', hint: 'For an execution or a workflow: the last part of its URL in n8n. For a user or API key: actor.id of any event it caused' },
	}),
	typeOptions: { loadOptionsDependsOn: ['undoOf'] },
	displayOptions: { hide: { undoOf: ['instance'] } },
	description: 'The list covers the newest 10,000 events. For earlier changes, enter the ID.',
};

export const since: INodeProperties = {
	displayName: 'Since',
	name: 'since',
	type: 'dateTime',
	default: '',
	description: 'Undo only changes made at or after this time. Optional for an execution: without it, the whole log is searched.',
};

export const allowPartialUndo: INodeProperties = {
	displayName: 'Allow Partial Undo',
	name: 'allowPartialUndo',
	type: 'boolean',
	default: true,
	description: 'Whether to undo the changes that are still in the log, even if the log does not reach back to Since',
};

export const takesPrecedence: INodeProperties = {
	displayName: 'Undo Takes Precedence',
	name: 'undoTakesPrecedence',
	type: 'boolean',
	default: true,
	description: 'Whether to also undo what others have changed since. Their changes are lost.',
};

export const maxUndone: INodeProperties = {
	displayName: 'Maximum Records',
	name: 'maxUndone',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 1000,
	description: 'The maximum number of records to change. If more would change, nothing is written.',
};

export const until: INodeProperties = {
	displayName: 'Until',
	name: 'until',
	type: 'dateTime',
	default: '',
	description: 'Changes made after this time are kept, as if someone else had made them',
};

/** Chooses records by id: unlike the filters of Get Many, ids also choose deleted records. */
export const onlyRecords: INodeProperties = {
	displayName: 'Only These Records',
	name: 'onlyRecords',
	type: 'string',
	default: '',
	placeholder: 'e.g. con_01k1, con_01k2',
	description: 'IDs of the records to undo, separated by commas. A preview returns them. Other records stay as they are.',
};

export const recordTypesOption = { displayName: 'Record Types', name: 'kinds' };

const recordTypesProperty = (recordTypes: Resource[]): INodeProperties => ({
	...recordTypesOption,
	type: 'multiOptions',
	options: recordTypes.map(({ name, value }) => ({ name, value })).sort((a, b) => (a.name < b.name ? -1 : 1)),
	default: [],
	description: 'Undo only changes to records of these types',
});

export const undoProperties = [undoPreview, undoOf, undoId, since];
export const undoOptions = (recordTypes: Resource[]): INodeProperties[] =>
	[allowPartialUndo, recordTypesProperty(recordTypes), maxUndone, onlyRecords, takesPrecedence, until];
