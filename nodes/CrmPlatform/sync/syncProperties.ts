import type { INodeProperties, INodeTypeDescription } from 'n8n-workflow';

import { operationOf, type Operation, type Resource } from '../model';
import {
	blankNotices, describeFields, emptyCellsOption, fieldsJsonHint, fieldsProperties, linkedRecordsProperty, mapperProperties, matchOnProperty,
	valuesInOption,
} from '../parameters/fieldParameters';
import { filtersProperty } from '../parameters/listParameters';
import { propertiesOf } from '../actionProperties';
import { everyday } from '../resources';
import { booleanProperty, choiceProperty, numberProperty, textProperty } from '../parameters/properties';
import { linkedPicker } from '../parameters/recordParameters';

/** The operation whose fields, and fields to match on, a sync offers. */
export const syncedOperation = 'upsert';

/** Whether a sync offers a resource: its records can be listed, and found by a unique field. */
export const isSynced = (resource: Resource): boolean =>
	[syncedOperation, 'getMany', 'create', 'update', 'delete'].every((value) => operationOf(resource, value));

export function syncPropertiesOf(resources: Resource[]): INodeProperties[] {
	const offered = resources.filter(isSynced).map((resource) => ({ ...resource, operations: [sync] }));
	return [hiddenOperation, ...propertiesOf(offered).filter(({ name }) => name !== hiddenOperation.name)];
}

const hiddenOperation: INodeProperties = { displayName: 'Operation', name: 'operation', type: 'hidden', default: syncedOperation };

/** A sync creates no records but those of its items. */
const linkedRecords = linkedRecordsProperty(linkedPicker);

const sync = {
	option: { name: 'Sync', value: syncedOperation, action: 'Keep records in sync' },
	options: [emptyCellsOption, valuesInOption],
	properties: (resource: Resource) => [
		preview,
		matchOn,
		alsoMatchOn,
		...itemProperties(resource),
		...blankNotices,
		scope,
		missingInCrm,
		differing,
		missingInSource,
		...fieldsToSet,
		maxDeletions,
		maxDeletionsShare,
		completeInput,
		versionField,
		bothChanged,
		changedAtField,
		agreedField,
	],
} satisfies Pick<Operation, 'option' | 'properties' | 'options'>;

const itemProperties = (resource: Resource) => fieldsProperties(resource, 'getSyncFields', linkedRecords);

/** The settings that apply to the whole run, all but the values of items: an expression must return the same value for every item. */
export function settingsForAll(resource: Resource): INodeProperties[] {
	const perItem = new Set([...itemProperties(resource), emptyCellsOption].map(({ name }) => name));
	return [...sync.properties(resource), ...sync.options].filter(({ name }) => !perItem.has(name));
}

export const matchOn = matchOnProperty(
	{ name: 'matchOn', required: true },
	'The unique field that identifies the CRM record of an item, such as External ID.',
	'getSyncMatchFields',
);

export const alsoMatchOn = matchOnProperty(
	{ displayName: 'Then Match On Name or ID', name: 'alsoMatchOn' },
	'A second field, for items not found by the first.',
	'getSyncOtherMatchFields',
);

const scope = filtersProperty({
	displayName: 'Records in Scope',
	name: 'filters',
	description:
		'Filters for the CRM records that belong to this sync. Without filters, all records do. Other records are never changed.',
}, false);

export const missingInCrm = choiceProperty('When Missing in the CRM', 'missingInCrm', 'create', [
	['Create the Record', 'create'],
	['Leave It Out', 'leave', 'The item goes to Unchanged'],
], { description: 'What to do with source records that the CRM does not have' });

export const differing = choiceProperty('When Values Differ', 'differing', 'update', [
	['Update the Record', 'update', 'Only the values that differ are written'],
	['Leave It', 'leave', 'The item goes to Unchanged'],
], { description: 'What to do with records whose mapped values differ from the source' });

export const missingInSource = choiceProperty('When Missing in the Source', 'missingInSource', 'leave', [
	['Delete the Record', 'delete', 'The input must contain all records of the source'],
	['Leave It', 'leave', 'The input may contain only some of the records, such as those that changed'],
	['Set Fields', 'set', 'Mark the record, for example with a status. The input must contain all records of the source.'],
], { description: 'What to do with records in scope that are missing from the source' });

const ofMissing = { show: { missingInSource: ['delete', 'set'] } };

const fieldsToSet = mapperProperties(
	{ displayName: 'Fields to Set', name: 'missingValues', description: 'The values for records that are missing from the source' },
	'getFieldsToSet',
	{ missingInSource: ['set'] },
);

export const maxDeletions = numberProperty('Maximum Deletions', 'maxDeletions', 100, {
	typeOptions: { minValue: 0 },
	displayOptions: ofMissing,
	description: 'The maximum number of missing records to delete or set fields of. If there are more, none is changed and all go to Conflict. This protects the CRM from a broken export.',
});

export const maxDeletionsShare = numberProperty('Maximum Deletions (%)', 'maxDeletionsShare', 10, {
	typeOptions: { minValue: 0, maxValue: 100 },
	displayOptions: ofMissing,
	description: 'The same limit as a percentage of the records in scope that have a key. Both limits apply. 0 allows none. Any other value allows up to three deletions, provided that at least as many records remain.',
});

export const completeInput = booleanProperty('Input Is Complete', 'completeInput', false, 'Whether each run has all records of the source for its Records in Scope. Only needed in a loop, a sub-workflow, or after branches, where the node otherwise writes nothing.', {
	displayOptions: ofMissing,
});

export const versionField = textProperty('Version Field', 'versionField', {
	placeholder: 'e.g. crm_version',
	description: 'The input field with the version of the CRM record that the source last saw. With it, the node notices later changes in the CRM instead of overwriting them.',
});

export const bothChanged = choiceProperty('When Both Changed', 'bothChanged', 'conflict', [
	['CRM Takes Precedence', 'crm', 'The item goes to Unchanged'],
	['Later Change Takes Precedence', 'latest', 'Compare a time field of the source with the time of the last change in the CRM'],
	['Report a Conflict', 'conflict', 'The item goes to Conflict, with both values'],
	['Source Takes Precedence', 'source', 'The record is updated'],
], {
	displayOptions: { hide: { versionField: [''] } },
	description: 'What to do with records that were changed in the CRM since the source last saw them',
});

export const changedAtField = textProperty('Changed At Field', 'changedAtField', {
	placeholder: 'e.g. updatedAt',
	required: true,
	displayOptions: { show: { bothChanged: ['latest'] }, hide: { versionField: [''] } },
	description: 'The input field with the time of the item’s last change',
});

export const agreedField = textProperty('Agreed Values Field', 'agreedField', {
	placeholder: 'e.g. synced',
	displayOptions: { hide: { versionField: [''] } },
	description: 'The input field with the values that the source and the CRM last agreed on, such as {"last_name": "King"}. With it, When Both Changed only decides about fields that both sides have changed.',
});

export const preview = booleanProperty('Preview', 'preview', true, 'Whether to only show what a run would do, without writing anything. Turn it off to write the changes.');

const records = describeFields(everyday.filter(isSynced), false);

/** A hint for builders of workflows, beside the parameters of a sync. */
export const syncHint: NonNullable<INodeTypeDescription['builderHint']> = {
	searchHint: 'Give it all rows of the other system at once. With preview it only says what it would do.',
	extraTypeDefContent: [{ content: `${fieldsJsonHint} Every record may have external_id. ${records}` }],
};
