import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { connect } from '../api/connection';
import { type Field, idField } from '../fields/field';
import { failureJson, nodeFailure, withLines } from '../failure';
import type { Execution } from '../model';
import { type AppliedPlan, applyPlan, type ChangeFailure, describedWrites } from '../changes/apply';
import { comparison } from '../changes/merge';
import { asConflict, type PlannedChange, reportedRecord } from '../changes/plan';
import { listNameOf, matchKey, valueIn } from '../fields/keys';
import { isBlank } from '../values/blank';
import { timeSpan } from '../values/dates';
import { type Claim, claimsOf, guardDeletions, planChanges, refuseDuplicates } from './syncPlan';
import { type CrmRecord, indexRecords, type SourceRecord } from './matching';
import {
	conditionsOfScope, findRecords, type FoundRecords, inWholeList, type KeysToFind, type KeyToFind, namesOfScope, readWholeList, scopeCheck,
} from './readRecords';
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
		return await run(syncExecution(n8n, await connect(n8n)));
	} catch (error) {
		const failure = nodeFailure(n8n, error as Error, undefined);
		// If a node throws, n8n 2.41 outputs the input items on the first output, which is Created.
		if (!n8n.continueOnFail()) throw failure;
		const failures = n8n.getInputData().map((_, item) => ({ item, error: failure }));
		return outputOf(n8n, [], failures, new Set());
	}
}

async function run(execution: Execution): Promise<INodeExecutionData[][]> {
	const { n8n, api } = execution;
	const { planned, unread, collection, isPreview } = await prepare(execution);
	const described = await describedWrites(execution, planned);
	const applied: AppliedPlan = isPreview
		? { done: planned, failures: [], untried: 0 }
		: await applyPlan(execution, collection, planned, described);
	const { done, failures, untried } = applied;
	if (isPreview) api.notices.add('Preview: nothing was written. Turn off Preview to write these changes.');

	const [first] = failures;
	if (first && !n8n.continueOnFail()) {
		const writtenCount = done.filter(({ action }) => action !== 'unchanged' && action !== 'conflict').length;
		const summary = `${writtenCount} records were written, ${failures.length} failed and ${untried} were not tried. The next run continues with the rest.`;
		const overwritten = overwrittenIn(done);
		const lines = overwritten.slice(0, maxReported).map(overwrittenLine);
		if (overwritten.length > maxReported) lines.push(`… and ${overwritten.length - maxReported} more: see overwritten in the data of this error.`);
		const failure = withLines(nodeFailure(n8n, first.error, first.item), [summary, ...lines, ...api.notices]);
		if (overwritten.length > 0) failure.context.data = { ...(failure.context.data as IDataObject), overwritten };
		throw failure;
	}
	for (const message of api.notices) n8n.addExecutionHints({ message, location: 'outputPane' });
	return outputOf(n8n, done, [...unread, ...failures], new Set(collection.fields));
}

/** Maximum number of records in an error message; its data has all. */
const maxReported = 20;

/** A record whose values *When Both Changed* has overwritten. */
type Overwritten = Pick<PlannedChange, 'item' | 'changes' | 'reason'> & { id: string };

/** What a rule has overwritten, for the error: a failed node has no output, and the next attempt finds equal values. */
const overwrittenIn = (done: PlannedChange[]): Overwritten[] =>
	done.flatMap(({ action, item, record, changes, reason }) =>
		action === 'update' && item !== undefined && record && reason !== undefined ? [{ item, id: record.id, changes, reason }] : []);

function overwrittenLine({ id, item, changes, reason }: Overwritten): string {
	const values = changes.flatMap(({ field, from, to, kept }) => (kept ? [] : [`${field}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`]));
	return `Overwritten in record ${id} (item ${item}): ${values.join(', ')}. ${reason}`;
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
 * Reads the input items and the CRM, and plans. This is a separate function, so that the values of the items can be
 * garbage-collected while the plan runs: for 100,000 items they take as much memory as the records.
 */
async function prepare(execution: Execution) {
	const { n8n, api } = execution;
	const sync = await settingsOf(execution);
	const source = readSource(execution, sync.read, sync.sourceFields);
	const { failures } = source;
	const [first] = failures;
	if (first && !n8n.continueOnFail()) {
		const count = `${failures.length} of ${n8n.getInputData().length} items could not be read`;
		if (!sync.isPreview) {
			const lines = failures.length > 1 ? [`${count}: run with Preview on to see all of them on the output Conflict.`] : [];
			throw withLines(nodeFailure(n8n, first.error, first.item), ['Nothing was written.', ...lines, ...api.notices]);
		}
		api.notices.add(`${count}. They are on the output Conflict, each with its reason. Correct them, or set On Error to Continue; otherwise a run stops before it writes anything.`);
	}
	const collection = { ...sync.collection, fields: neededFields(sync, source) };
	const planned = await plan(execution, { ...sync, collection }, source);
	return { planned, unread: failures, collection, isPreview: sync.isPreview };
}

/** The fields to read of each record: those that are compared, those to match on, and the version. */
function neededFields({ collection, match, rules, unique, recordFields }: SyncSettings, { records }: Source): string[] {
	const time = rules.bothChanged === 'latest' ? [changedFieldOf(collection)] : [];
	const names = new Set(['id', 'version', ...time, ...match.map(({ path: [name = ''] }) => name)]);
	for (const { values } of records) for (const name of Object.keys(values)) names.add(name);
	for (const name of Object.keys(rules.missingValues ?? {})) names.add(name);
	for (const field of unique) {
		const list = listNameOf(field);
		const isGiven = names.has(field.path[0] ?? '');
		if (names.has(list)) names.add(field.path[0] ?? '');
		// A record may have the value in its list only.
		else if (isGiven && recordFields.has(list) && rules.missingInSource !== 'leave') names.add(list);
	}
	const isKnown = (name: string) => name === 'id' || recordFields.size === 0 || recordFields.has(name);
	return [...names].filter(isKnown);
}

/** The field with the time of a record's last change: the one that the list is filtered by, otherwise the usual one. */
const changedFieldOf = ({ list }: SyncSettings['collection']): string => list.changed?.field ?? 'updated_at';

/** Reads, plans and guards. Nothing is written. */
async function plan(execution: Execution, sync: SyncSettings, source: Source): Promise<PlannedChange[]> {
	const { api } = execution;
	const { collection, scope, filters, limits, rules, fields, match, unique, recordFields } = sync;
	const isWhole = rules.missingInSource !== 'leave';
	const isScoped = Object.keys(scope).length > 0;
	const scoped = conditionsOfScope(filters, fields, recordFields);
	const deleted = rules.missingInSource === 'delete' && recordFields.has('deleted_at') ? ['deleted_at'] : [];
	const read = { ...collection, fields: [...collection.fields, ...namesOfScope(scoped, recordFields), ...deleted] };
	const found: FoundRecords = isWhole
		? inWholeList(await readWholeList(read, scope), isScoped)
		: await findRecords(read, keysToFind(source, match), scope);
	const outside = scopeCheck(found.records, scoped);
	const outsider = isWhole ? found.records.map(outside).find((reason) => reason !== undefined) : undefined;
	if (outsider !== undefined) throw new Error(`${outsider} ${nothingWritten}`);
	const keysOf = (record: CrmRecord) => match.map((field) => matchKey(field, valueIn(record, field)));

	const compare = comparison(fields);
	const proposed = planChanges(source.records, indexRecords(found.records, match), {
		rules,
		matchLabels: match.map(({ label }) => label),
		unique: match.includes(idField) ? [...unique, idField] : unique,
		keysOf,
		outside,
		compare,
		changedAtOf: (record) => timeSpan(record[changedFieldOf(collection)], 'utc'),
	});
	const allowed = await withoutDuplicates(sync, proposed, found, unique);
	const { planned, reason } = guardDeletions(
		allowed,
		limits,
		{
			comparable: found.records.filter((record) => isBlank(record.deleted_at) && keysOf(record).some((key) => key !== undefined)).length,
			inSource: source.records.length,
			unknown: source.failures.length,
		},
	);
	if (reason !== undefined) api.notices.add(reason);
	return planned;
}

/** The values to look up the source's records by. */
function keysToFind({ records }: Source, match: Field[]): KeysToFind {
	const keysOf = ({ values, keys }: SourceRecord): KeyToFind[] =>
		match.flatMap((field, i) => {
			const key = keys[i];
			const value = field === idField ? key : valueIn(values, field);
			return key === undefined ? [] : [{ field, key, value }];
		});
	const countOf = ({ keys }: SourceRecord) => keys.filter((key) => key !== undefined).length;
	return {
		count: records.reduce((count, record) => count + countOf(record), 0),
		keys: () => records.flatMap(keysOf),
	};
}

/** Refuses changes to unique values that other records have, including records out of scope. */
async function withoutDuplicates(
	{ collection }: SyncSettings,
	planned: PlannedChange[],
	found: FoundRecords,
	unique: Field[],
): Promise<PlannedChange[]> {
	const claims = claimsOf(planned, unique);
	const unknown = claims.filter(({ field, key }) => found.holdersOf(field, key) === undefined);
	const isFilterable = ({ field }: Claim) =>
		collection.filters.some(({ name }) => name === (field === idField ? 'ids' : field.name));
	const filterable = unknown.filter(isFilterable);
	const unclear = unknown.filter((claim) => claim.field === idField && !isFilterable(claim));
	const places = new Set(unclear.map(({ place }) => place));
	const clear = planned.map((change, place) => (places.has(place) ? asConflict(change, mayBeOutside) : change));
	const others =
		filterable.length === 0
			? undefined
			: await findRecords(
					{ ...collection, fields: filterable.map(({ field }) => field.path[0] ?? '') },
					{ count: filterable.length, keys: () => filterable },
				);
	return refuseDuplicates(clear, claims, {
		of: (field, key) => found.holdersOf(field, key) ?? others?.holdersOf(field, key) ?? [],
	});
}

const nothingWritten = 'Nothing was written, because other records could be deleted.';
const mayBeOutside = 'The source has seen this record in the CRM. It may be outside Records in Scope, so none was created.';
