import { randomUUID } from 'node:crypto';
import { type IDataObject, type IExecuteFunctions, type INodeProperties, NodeOperationError, type INodeTypeDescription } from 'n8n-workflow';

import { propertiesOf } from '../actionProperties';
import { allFilters, customFieldsIfAny } from '../api/customFields';
import type { Query } from '../api/http/path';
import { requireDescribed } from '../api/requireDescribed';
import { orThrow } from '../base/results';
import { type Condition, conditionOf } from '../fields/condition';
import { type Field, idField } from '../fields/field';
import { RecordComparison } from '../fields/recordComparison';
import type { RecordList } from '../lookUp/lookUp';
import { queryOfFilters, readFilters } from '../mapping/filters';
import { bodiesOfItems } from '../mapping/itemValues';
import { commonCollection, refuseDiffering } from '../mapping/sameForAll';
import { type StoredFields, storedFields } from '../mapping/storedFields';
import { operationOf, type NodeRun, type Operation, type Resource } from '../model';
import {
	blankNotices, describeFields, emptyCellsOption, fieldsJsonHint, fieldsProperties, linkedRecordsProperty,
	mapperProperties, matchOnProperty, valuesInOption,
} from '../parameters/fieldParameters';
import { filtersProperty } from '../parameters/listParameters';
import { chosenOption, parameterText, booleanProperty, choiceProperty, numberProperty, textProperty } from '../parameters/properties';
import { linkedPicker } from '../parameters/recordParameters';
import { resourceNamed, everyday } from '../resources';
import { parseBoolean, parsePercent, parsePreview, parseWholeNumber } from '../values/parsers';
import { runIdentity } from '../writing/runState';

/** The operation whose fields, and fields to match on, a sync offers. */
const syncedOperation = 'upsert';

/** Whether a sync offers a resource: its records can be listed, and found by a unique field. */
const isSynced = (resource: Resource): boolean =>
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
function settingsForAll(resource: Resource): INodeProperties[] {
	const perItem = new Set([...itemProperties(resource), emptyCellsOption].map(({ name }) => name));
	return [...sync.properties(resource), ...sync.options].filter(({ name }) => !perItem.has(name));
}

const matchOn = matchOnProperty(
	{ name: 'matchOn', required: true },
	'The unique field that identifies the CRM record of an item, such as External ID.',
	'getSyncMatchFields',
);

const alsoMatchOn = matchOnProperty(
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

const missingInCrm = choiceProperty('When Missing in the CRM', 'missingInCrm', 'create', [
	['Create the Record', 'create'],
	['Leave It Out', 'leave', 'The item goes to Unchanged'],
], { description: 'What to do with source records that the CRM does not have' });

const differing = choiceProperty('When Values Differ', 'differing', 'update', [
	['Update the Record', 'update', 'Only the values that differ are written'],
	['Leave It', 'leave', 'The item goes to Unchanged'],
], { description: 'What to do with records whose mapped values differ from the source' });

const missingInSource = choiceProperty('When Missing in the Source', 'missingInSource', 'leave', [
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

const maxDeletions = numberProperty('Maximum Deletions', 'maxDeletions', 100, {
	typeOptions: { minValue: 0 },
	displayOptions: ofMissing,
	description: 'The maximum number of missing records to delete or set fields of. If there are more, none is changed and all go to Conflict. This protects the CRM from a broken export.',
});

const maxDeletionsShare = numberProperty('Maximum Deletions (%)', 'maxDeletionsShare', 10, {
	typeOptions: { minValue: 0, maxValue: 100 },
	displayOptions: ofMissing,
	description: 'The same limit as a percentage of the records in scope that have a key. Both limits apply. 0 allows none. Any other value allows up to three deletions, provided that at least as many records remain.',
});

const completeInput = booleanProperty('Input Is Complete', 'completeInput', false, 'Whether each run has all records of the source for its Records in Scope. Only needed in a loop, a sub-workflow, or after branches, where the node otherwise writes nothing.', {
	displayOptions: ofMissing,
});

const versionField = textProperty('Version Field', 'versionField', {
	placeholder: 'e.g. crm_version',
	description: 'The input field with the version of the CRM record that the source last saw. With it, the node notices later changes in the CRM instead of overwriting them.',
});

const bothChanged = choiceProperty('When Both Changed', 'bothChanged', 'conflict', [
	['CRM Takes Precedence', 'crm', 'The item goes to Unchanged'],
	['Later Change Takes Precedence', 'latest', 'Compare a time field of the source with the time of the last change in the CRM'],
	['Report a Conflict', 'conflict', 'The item goes to Conflict, with both values'],
	['Source Takes Precedence', 'source', 'The record is updated'],
], {
	displayOptions: { hide: { versionField: [''] } },
	description: 'What to do with records that were changed in the CRM since the source last saw them',
});

const changedAtField = textProperty('Changed At Field', 'changedAtField', {
	placeholder: 'e.g. updatedAt',
	required: true,
	displayOptions: { show: { bothChanged: ['latest'] }, hide: { versionField: [''] } },
	description: 'The input field with the time of the item’s last change',
});

const agreedField = textProperty('Agreed Values Field', 'agreedField', {
	placeholder: 'e.g. synced',
	displayOptions: { hide: { versionField: [''] } },
	description: 'The input field with the values that the source and the CRM last agreed on, such as {"last_name": "King"}. With it, When Both Changed only decides about fields that both sides have changed.',
});

const preview = booleanProperty('Preview', 'preview', true, 'Whether to only show what a run would do, without writing anything. Turn it off to write the changes.');

const records = describeFields(everyday.filter(isSynced), false);

/** A hint for builders of workflows, beside the parameters of a sync. */
export const syncHint: NonNullable<INodeTypeDescription['builderHint']> = {
	searchHint: 'Give it all rows of the other system at once. With preview it only says what it would do.',
	extraTypeDefContent: [{ content: `${fieldsJsonHint} Every record may have external_id. ${records}` }],
};

export interface SyncSettings {
	recordList: RecordList;
	scopeQuery: Query;
	/** The filters of the scope. */
	conditions: Condition[];
	/** The names of the members of records; empty if the service does not describe them. */
	recordFields: ReadonlySet<string>;
	/** The field with the time of a record's last change. */
	changedField: string;
	/** The fields to match on, in the order of their precedence. */
	match: Field[];
	/** The fields that can be written, each custom field as one of them. */
	fields: Field[];
	/** Those of which no two records may have the same value. */
	unique: Field[];
	compare: RecordComparison;
	rules: SyncRules;
	limits: DeletionLimits;
	isPreview: boolean;
	/** How the items are mapped, and the fields that they may have. */
	mapping: { stored: StoredFields; fields: Field[] };
	/**
	 * The names of the item's fields with the version that the other system saw last, the values that both agreed on
	 * last, and the time of its last change; empty for none.
	 */
	itemFields: { version: string; agreed: string; changedAt: string };
}

/** The settings by which a plan decides. */
export type PlanSettings = Pick<SyncSettings, 'rules' | 'match' | 'unique' | 'compare' | 'changedField'>;

export interface SyncRules {
	missingInCrm: 'create' | 'leave';
	differing: 'update' | 'leave';
	/** What to do with records in scope that the source does not have. */
	missingInSource: 'leave' | 'delete' | 'set';
	/** The values to set in records that the source does not have. */
	valuesToSet?: IDataObject;
	/** What to do with records that the CRM has changed since the other system saw them. */
	bothChanged: 'conflict' | 'source' | 'crm' | 'latest';
	/** Whether the items carry the version that the other system saw last. */
	checksVersions: boolean;
}

/** The maximum of records that one run may delete or set as missing. */
export interface DeletionLimits {
	/** Maximum percentage of the records in scope. */
	share: number;
	number: number;
}

/**
 * Returns the execution that the mapping and the description of writes need.
 *
 * @throws NodeOperationError if no resource is chosen that can be synchronized
 */
export function syncExecution(n8n: IExecuteFunctions, api: NodeRun['api']): NodeRun {
	const resource = resourceNamed(String(n8n.getNodeParameter('resource', 0)));
	const operation = resource && operationOf(resource, syncedOperation);
	if (!resource || !operation || !isSynced(resource)) {
		throw new NodeOperationError(n8n.getNode(), 'The node does not know this resource', {
			description: 'Open the node and choose a resource.',
		});
	}
	// Each attempt makes its own plan and must not reuse the keys of the previous one.
	return { n8n, api, resource, operation, identity: runIdentity(n8n, randomUUID()) };
}

/**
 * Reads the parameters and the service's description.
 *
 * @throws Error in the user's words if a parameter is missing, or if the service does not offer something
 */
export async function settingsOf(run: NodeRun): Promise<SyncSettings> {
	const { n8n, api, resource } = run;
	const parameter = ({ name, default: unset }: INodeProperties): unknown => n8n.getNodeParameter(name, 0, unset);
	refuseDiffering(n8n, settingsForAll(resource));
	const { list, upsert, fields: described } = await requireDescribed(run, 'list', 'upsert');
	api.requireDescription('Sync');
	const path = commonCollection(run);
	const custom = (await customFieldsIfAny(api, path, upsert.fields))?.fields ?? [];
	const fields = [...upsert.fields, ...custom];
	const match = matchFields(n8n, fields);
	const stored = storedFields(run, 'fields');
	const takesId = stored.mode === 'each' || match.includes(idField);
	const rules = await rulesOf(run, upsert.fields);
	if (rules.missingInSource !== 'leave') refusePartialSource(n8n);
	const itemFields = itemFieldsOf(n8n, rules);
	const [scopeFilters, ...others] = orThrow((await readFilters(run, 'filters', list, 'nobody'))[0]!);
	if (others.length > 0) throw new Error('These filters cannot be joined by Or. Choose And in each row.');
	return {
		recordList: { api, path, list, filters: list.takesCustomFields ? allFilters(list, custom) : list.filters, fields: [] },
		scopeQuery: queryOfFilters(scopeFilters),
		conditions: scopeFilters.map(({ field, converted }) => conditionOf(field.name, converted, field, fields)),
		recordFields: new Set(described.map(({ name }) => name)),
		changedField: list.changed?.field ?? 'updated_at',
		match,
		fields,
		unique: fields.filter((field) => field.unique),
		compare: new RecordComparison(fields),
		rules,
		limits: {
			share: parsePercent(maxDeletionsShare.displayName, parameter(maxDeletionsShare)),
			number: parseWholeNumber(maxDeletions.displayName, parameter(maxDeletions)),
		},
		isPreview: parsePreview(parameter(preview)),
		mapping: { stored, fields: takesId ? [...upsert.fields, idField] : upsert.fields },
		itemFields,
	};
}

function matchFields(n8n: IExecuteFunctions, fields: Field[]): Field[] {
	const names = [matchOn, alsoMatchOn].map((property) => parameterText(n8n, property));
	if (names[0] === '') throw new Error('Match On: choose the field that identifies the CRM record of an item.');
	return [...new Set(names.filter((name) => name !== ''))].map((name) => {
		const field = [idField, ...fields].find((candidate) => candidate.name === name);
		if (!field) throw new Error(`Match On: the CRM has no field ${name}. Choose another one.`);
		if (!field.unique) throw new Error(`Match On: several records may have the same ${field.label}. Choose a field that is unique.`);
		return field;
	});
}

async function rulesOf(run: NodeRun, fields: Field[]): Promise<SyncRules> {
	const { n8n } = run;
	const checksVersions = parameterText(n8n, versionField) !== '';
	const rules: SyncRules = {
		missingInCrm: chosenOption(n8n, 0, missingInCrm),
		differing: chosenOption(n8n, 0, differing),
		missingInSource: chosenOption(n8n, 0, missingInSource),
		bothChanged: checksVersions ? chosenOption(n8n, 0, bothChanged) : 'conflict',
		checksVersions,
	};
	if (rules.missingInSource !== 'set') return rules;
	const stored = storedFields(run, 'missingValues');
	// They are the same for all items.
	const [values] = await bodiesOfItems(run, { stored, items: n8n.getInputData().slice(0, 1), fields, whenCleared: 'clear' });
	const valuesToSet = orThrow(values!);
	if (Object.keys(valuesToSet).length > 0) return { ...rules, valuesToSet };
	throw new Error('Fields to Set: choose the values for records that are missing from the source.');
}

/** @throws Error in the user's words if a rule needs a field that is not named */
function itemFieldsOf(n8n: IExecuteFunctions, { bothChanged: rule, checksVersions }: SyncRules): SyncSettings['itemFields'] {
	const changedAt = rule === 'latest' ? parameterText(n8n, changedAtField) : '';
	if (rule === 'latest' && changedAt === '') {
		throw new Error('Changed At Field: name the field of the input items with the time of their last change.');
	}
	return { version: parameterText(n8n, versionField), agreed: checksVersions ? parameterText(n8n, agreedField) : '', changedAt };
}

/**
 * Refuses to change records missing in the source if the items may be a part of it: records of the other parts would be
 * deleted. n8n does not tell a sub-workflow how often it was called, nor whether two outputs of one node lead to the same node.
 *
 * @throws Error in the user's words
 */
function refusePartialSource(n8n: IExecuteFunctions): void {
	const { displayName, name, default: unset } = completeInput;
	if (parseBoolean(displayName, n8n.getNodeParameter(name, 0, unset), { otherwise: false })) return;
	const { name: node } = n8n.getNode();
	const isInLoop = namesBefore(n8n, node).some((earlier) => namesBefore(n8n, earlier).includes(node));
	if (isInLoop || (n8n.getWorkflowDataProxy(0).$runIndex as number) > 0) throw new Error(partOnly('runs several times in this execution'));
	const join = unawaitedJoin(n8n);
	if (join) throw new Error(partOnly(`may run once for each branch that leads to “${join}”: join the branches with a Merge node`));
	const isSubExecution = n8n.getMode() === 'integrated' || n8n.getExecutionContext()?.parentExecutionId !== undefined;
	if (isSubExecution) throw new Error(partOnly('is in a sub-workflow, which may run several times'));
}

/** The name of a node, this one or an earlier one, that n8n runs once for each branch that leads to it. */
function unawaitedJoin(n8n: IExecuteFunctions): string | undefined {
	const node = n8n.getNode();
	return [node, ...n8n.getParentNodes(node.name)].find(({ name, type }) => {
		// The way back of a loop is no branch.
		const branches = namesBefore(n8n, name, 1).map((parent) => [parent, ...namesBefore(n8n, parent)]).filter((branch) => !branch.includes(name));
		// Branches from different triggers are not run in one execution.
		return !awaitingTypes.has(type) && new Set(branches.flat()).size < branches.flat().length;
	})?.name;
}

/** The nodes that wait for all branches. */
const awaitingTypes = new Set(['n8n-nodes-base.merge', 'n8n-nodes-base.compareDatasets']);

/** @param depth how many nodes back: by default, all */
const namesBefore = (n8n: IExecuteFunctions, node: string, depth = -1): string[] => n8n.getParentNodes(node, { depth }).map(({ name }) => name);

const partOnly = (cause: string) => `When Missing in the Source: the node ${cause}. `
	+ 'If each run has only some records of the source, the others would be deleted, so nothing was written. '
	+ 'Pass in all records at once, or choose Leave It. If each run has all records of its scope, turn on Input Is Complete.';
