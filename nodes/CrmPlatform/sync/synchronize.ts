import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { connect } from '../api/connection';
import { type Field, idField } from '../fields/field';
import { conditionOf } from '../fields/condition';
import { failureJson, type NodeFailure, nodeFailure, withLines } from '../failure';
import type { Execution } from '../model';
import { applyPlan, type ChangeFailure } from '../changes/apply';
import { comparison } from '../changes/merge';
import { type PlannedChange, reportedRecord } from '../changes/plan';
import { listNameOf, valueIn } from '../fields/keys';
import { readWholeList, valuesPerRequest, type RecordList } from '../lookUp/lookUp';
import { claimsOf, comparableCount, guardDeletions, planChanges, refuseTaken } from './syncPlan';
import { crmRecords, findRecords, refuseOutsiders, type ValuesToFind } from './crmRecords';
import { settingsOf, syncExecution, type SyncSettings } from './settings';
import { readSource, type Source } from './syncSource';

/**
 * Synchronizes records of the CRM with the input items: reads what is necessary, plans all changes, and makes
 * them unless it is a preview.
 *
 * @returns the items of each output
 * @throws NodeApiError or NodeOperationError if the CRM cannot be read (nothing is written then), and for
 * the first record that fails; if the node is set to continue on fail, these are items of Conflict
 */
export async function synchronize(n8n: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	if (n8n.getInputData().length === 0) return outputNames.map(() => []);
	try {
		const execution = syncExecution(n8n, await connect(n8n));
		const { notices } = execution.api;
		const { planned, unread, collection, isPreview } = await planSync(execution);
		const { done, failures, untried } = await applyPlan(execution, collection, planned, { isPreview });
		if (isPreview) notices.add('Preview: nothing was written. Turn off Preview to write these changes.');
		const [first] = failures;
		if (first && !n8n.continueOnFail()) {
			const writtenCount = done.filter(({ action }) => action !== 'unchanged' && action !== 'conflict').length;
			const summary = `${writtenCount} records were written, ${failures.length} failed and ${untried} were not tried. The next run continues with the rest.`;
			throw withOverwritten(withLines(nodeFailure(n8n, first.error, first.item), [summary]), done, notices);
		}
		for (const message of notices) n8n.addExecutionHints({ message, location: 'outputPane' });
		return outputOf(n8n, done, [...unread, ...failures], new Set(collection.fields));
	} catch (error) {
		const failure = nodeFailure(n8n, error as Error, undefined);
		// If a node throws, n8n 2.41 outputs the input items on the first output, which is Created.
		if (!n8n.continueOnFail()) throw failure;
		const failures = n8n.getInputData().map((_, item) => ({ item, error: failure }));
		return outputOf(n8n, [], failures, new Set());
	}
}

/** Maximum number of records in an error message; its data has all. */
const maxReported = 20;

/** Adds the values that *When Both Changed* has overwritten: a failed node has no output, and the next attempt finds equal values. */
function withOverwritten(failure: NodeFailure, done: PlannedChange[], notices: Iterable<string>): NodeFailure {
	const overwritten = done.flatMap(({ action, item, record, changes, reason }) =>
		(action === 'update' && item !== undefined && record && reason !== undefined ? [{ item, id: record.id, changes, reason }] : []));
	const lines = overwritten.slice(0, maxReported).map(({ id, item, changes, reason }) => {
		const values = changes.flatMap(({ field, from, to, kept }) => (kept ? [] : [`${field}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`]));
		return `Overwritten in record ${id} (item ${item}): ${values.join(', ')}. ${reason}`;
	});
	if (overwritten.length > maxReported) lines.push(`… and ${overwritten.length - maxReported} more: see overwritten in the data of this error.`);
	if (overwritten.length > 0) failure.context.data = { ...(failure.context.data as IDataObject), overwritten };
	return withLines(failure, [...lines, ...notices]);
}

/** The outputs of the node in their order: those that need attention come before Unchanged. */
export const outputNames = ['Created', 'Updated', 'Deleted', 'Conflict', 'Unchanged'] as const;

const outputs: Record<PlannedChange['action'], number> = { create: 0, update: 1, delete: 2, conflict: 3, unchanged: 4 };

/**
 * Returns the items of each output.
 *
 * @param names the fields of a record to output
 * @param failures records that were not written; they go to Conflict, from where n8n moves them to its error
 * output if the node has one
 */
function outputOf(n8n: IExecuteFunctions, done: PlannedChange[], failures: ChangeFailure[], names: ReadonlySet<string>): INodeExecutionData[][] {
	const result: INodeExecutionData[][] = outputNames.map(() => []);
	const linkTo = (item: number | undefined) => (item === undefined ? {} : { pairedItem: { item } });
	for (const change of done) result[outputs[change.action]]!.push({ json: reportedRecord(change, names, 'sync'), ...linkTo(change.item) });
	for (const { item, error } of failures) result[outputs.conflict]!.push({ json: failureJson(nodeFailure(n8n, error, item)), ...linkTo(item) });
	return result;
}

/**
 * Reads the input items and the CRM, and plans. Nothing is written. This is a separate function, so that the values of the
 * items can be garbage-collected while the plan runs: for 100,000 items they take as much memory as the records.
 */
async function planSync(execution: Execution): Promise<{ planned: PlannedChange[]; unread: ChangeFailure[]; collection: RecordList; isPreview: boolean }> {
	const { n8n, api } = execution;
	const settings = await settingsOf(execution);
	const { rules, match, unique, scope, recordFields, isPreview } = settings;
	const source = readSource(execution, settings);
	if (source.failures.length > 0 && !n8n.continueOnFail()) reportUnread(execution, source, isPreview);

	const changedField = settings.collection.list.changed?.field ?? 'updated_at';
	const collection = { ...settings.collection, fields: neededFields(settings, source, changedField) };
	const conditions = settings.filters.map(({ field, converted }) => conditionOf(field.name, converted, field, settings.fields));
	const namesOfScope = conditions.flatMap(({ field }) => [field.path[0] ?? '', listNameOf(field)]).filter((name) => recordFields.has(name));
	const deleted = rules.missingInSource === 'delete' && recordFields.has('deleted_at') ? ['deleted_at'] : [];
	const reading = { ...collection, fields: [...collection.fields, ...namesOfScope, ...deleted] };
	const crm = rules.missingInSource === 'leave'
		? await findRecords(reading, match.map((field, i) => valuesOf(source, field, i)), scope)
		: crmRecords(await readWholeList(reading, scope), Object.keys(scope).length > 0);
	refuseOutsiders(crm.records, conditions, recordFields);

	const proposed = planChanges(source.records, crm, { rules, match, unique, compare: comparison(settings.fields), changedField });
	// Other records may have a unique value that is about to be written, also records out of scope.
	const claims = claimsOf(proposed, unique);
	const unknown = claims.filter(({ field, value }) => crm.holdersOf(field, value) === undefined && (field === idField || valuesPerRequest(collection, field) > 0));
	const others = await findRecords(
		{ ...collection, fields: [] },
		[...new Set(unknown.map(({ field }) => field))].map((field) => ({ field, values: unknown.flatMap((claim) => (claim.field === field ? [claim.value] : [])) })),
	);
	const allowed = refuseTaken(proposed, claims, ({ field, value }) => crm.holdersOf(field, value) ?? others.holdersOf(field, value) ?? []);
	const { planned, reason } = guardDeletions(allowed, settings.limits, {
		comparable: comparableCount(crm.records, match), inSource: source.records.length, unknown: source.failures.length,
	});
	if (reason !== undefined) api.notices.add(reason);
	return { planned, unread: source.failures, collection, isPreview };
}

/** The values of a field by which the source's records are found. */
const valuesOf = ({ records }: Source, field: Field, index: number): ValuesToFind => ({
	field,
	values: records.flatMap(({ keys, values }) => (keys[index] === undefined ? [] : [field === idField ? keys[index] : valueIn(values, field)])),
});

/** @throws the first failure, except in a preview */
function reportUnread({ n8n, api }: Execution, { failures }: Source, isPreview: boolean): void {
	const [first] = failures as [ChangeFailure];
	const count = `${failures.length} of ${n8n.getInputData().length} items could not be read`;
	if (!isPreview) {
		const lines = failures.length > 1 ? [`${count}: run with Preview on to see all of them on the output Conflict.`] : [];
		throw withLines(nodeFailure(n8n, first.error, first.item), ['Nothing was written.', ...lines, ...api.notices]);
	}
	api.notices.add(`${count}. They are on the output Conflict, each with its reason. Correct them, or set On Error to Continue; otherwise a run stops before it writes anything.`);
}

/** The fields to read of each record: those that are compared, those to match on, and the version. */
function neededFields({ match, rules, unique, recordFields }: SyncSettings, { records }: Source, changedField: string): string[] {
	const time = rules.bothChanged === 'latest' ? [changedField] : [];
	const names = new Set(['id', 'version', ...time, ...match.map(({ path: [name = ''] }) => name), ...Object.keys(rules.missingValues ?? {})]);
	for (const { values } of records) for (const name of Object.keys(values)) names.add(name);
	for (const field of unique) {
		const [name = '', list] = [field.path[0], listNameOf(field)];
		if (names.has(list)) names.add(name);
		// A record may have the value in its list only.
		else if (names.has(name) && recordFields.has(list) && rules.missingInSource !== 'leave') names.add(list);
	}
	return [...names].filter((name) => name === 'id' || recordFields.size === 0 || recordFields.has(name));
}
