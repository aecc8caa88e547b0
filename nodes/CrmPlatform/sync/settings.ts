import { randomUUID } from 'node:crypto';
import { type IDataObject, type IExecuteFunctions, type INodeProperties, NodeOperationError } from 'n8n-workflow';

import { allFilters, customFieldsIfAny } from '../api/customFields';
import type { Query } from '../api/http/path';
import { requireDescribed } from '../api/requireDescribed';
import { orThrow } from '../base/results';
import { RecordComparison } from '../fields/recordComparison';
import { type Condition, conditionOf } from '../fields/condition';
import { type Field, idField } from '../fields/field';
import type { RecordList } from '../lookUp/recordList';
import { commonCollection, refuseDiffering } from '../mapping/sameForAll';
import { queryOfFilters, readFilters } from '../mapping/filters';
import { bodiesOfItems } from '../mapping/itemValues';
import { type StoredFields, storedFields } from '../mapping/storedFields';
import { operationOf, type NodeRun } from '../model';
import { chosenOption, parameterText } from '../parameters/properties';
import { parseBoolean, parsePercent, parsePreview, parseWholeNumber } from '../values/parsers';
import { resourceNamed } from '../resources';
import { runIdentity } from '../writing/runState';
import {
	agreedField, alsoMatchOn, bothChanged, changedAtField, completeInput, differing, isSynced, matchOn, maxDeletions, maxDeletionsShare,
	missingInCrm, missingInSource as missingInSourceProperty, preview, settingsForAll, syncedOperation, versionField,
} from './syncProperties';

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
		missingInSource: chosenOption(n8n, 0, missingInSourceProperty),
		bothChanged: checksVersions ? chosenOption(n8n, 0, bothChanged) : 'conflict',
		checksVersions,
	};
	if (rules.missingInSource !== 'set') return rules;
	const stored = storedFields(run, 'missingValues');
	// They are the same for all items.
	const [values] = await bodiesOfItems(run, { stored, fields, whenCleared: 'clear' }, { items: n8n.getInputData().slice(0, 1) });
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
