import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { connect } from '../api/connection';
import { failureJson, nodeFailure, withLines } from '../failure';
import type { NodeRun } from '../model';
import { applyPlan, type RecordChange, reportedRecord } from '../changes/apply';
import { comparedFields, readCrmRecords } from './crmRecords';
import { guardDeletions, withInvalidAsConflicts, withTakenAsConflicts } from './planChecks';
import { settingsOf, syncExecution, type SyncSettings } from './settings';
import { comparableCount, planChanges } from './syncPlan';
import { readSource, type SyncFailure } from './syncSource';

/**
 * Synchronizes the CRM with the input items: plans all changes, then makes them unless it is a preview.
 *
 * @returns the items of each output
 * @throws NodeApiError or NodeOperationError if the CRM cannot be read (nothing is written then), and for
 * the first record that fails; if the node is set to continue on fail, these are items of Conflict
 */
export async function synchronize(n8n: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = n8n.getInputData();
	if (items.length === 0) return outputNames.map(() => []);
	try {
		return await planAndApply(n8n);
	} catch (thrown) {
		const error = nodeFailure(n8n, thrown as Error, undefined);
		// If a node throws, n8n 2.41 outputs the input items on the first output, which is Created.
		if (!n8n.continueOnFail()) throw error;
		return outputOf(n8n, [], items.map((_, item) => ({ item, error })), []);
	}
}

async function planAndApply(n8n: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const run = syncExecution(n8n, await connect(n8n));
	const { notices } = run.api;
	const settings = await settingsOf(run);
	const { planned, unread, compared } = await planSync(run, settings);
	const { recordList, isPreview } = settings;
	const results = await applyPlan(run, recordList.path, planned, { isPreview });
	const done = results.flatMap((result) => (result === undefined || result instanceof Error ? [] : [result]));
	const failures = results.flatMap((result, i) => (result instanceof Error ? [{ item: planned[i]!.item, error: result }] : []));
	if (isPreview) notices.add('Preview: nothing was written. Turn off Preview to write these changes.');
	const [first] = failures;
	if (first && !n8n.continueOnFail()) {
		const writtenCount = done.filter(({ action }) => action !== 'unchanged' && action !== 'conflict').length;
		const summary = `${writtenCount} records were written, ${failures.length} failed and ${planned.length - done.length - failures.length} were not tried. The next run continues with the rest.`;
		throw withLines(nodeFailure(n8n, first.error, first.item), [summary, ...notices]);
	}
	for (const message of notices) n8n.addExecutionHints({ message, location: 'outputPane' });
	return outputOf(n8n, done, [...unread, ...failures], compared);
}

/** Separate, so that the items' values can be garbage-collected while the plan runs: for 100,000 items they take as much memory as the records. */
async function planSync(run: NodeRun, settings: SyncSettings) {
	const { records: sourceRecords, failures: unread } = await readSource(run, settings);
	const compared = comparedFields(settings, sourceRecords);
	const crm = await readCrmRecords(settings, sourceRecords, compared);
	// Other records may have a unique value that is about to be written, also records out of scope.
	const allowed = await withTakenAsConflicts(planChanges(sourceRecords, crm, settings), crm, settings);
	const counts = { comparable: comparableCount(crm.records, settings.match), inSource: sourceRecords.length, unreadable: unread.length };
	const guarded = guardDeletions(allowed, settings.limits, counts, run.api.notices);
	return { planned: settings.isPreview ? withInvalidAsConflicts(guarded, settings.fields) : guarded, unread, compared };
}

/** The outputs of the node in their order: those that need attention come before Unchanged. */
export const outputNames = ['Created', 'Updated', 'Deleted', 'Conflict', 'Unchanged'] as const;

const outputs: Record<RecordChange['action'], number> = { create: 0, update: 1, delete: 2, conflict: 3, unchanged: 4 };

/**
 * @param names the fields of a record to output
 * @param failures records that were not written; they go to Conflict, from where n8n moves them to its error
 * output if the node has one
 */
function outputOf(n8n: IExecuteFunctions, done: RecordChange[], failures: SyncFailure[], names: string[]): INodeExecutionData[][] {
	const shown = new Set(names);
	const result: INodeExecutionData[][] = outputNames.map(() => []);
	const linkTo = (item: number | undefined) => (item === undefined ? {} : { pairedItem: { item } });
	for (const change of done) result[outputs[change.action]]!.push({ json: reportedRecord(change, shown, 'sync'), ...linkTo(change.item) });
	for (const { item, error } of failures) result[outputs.conflict]!.push({ json: failureJson(nodeFailure(n8n, error, item)), ...linkTo(item) });
	return result;
}
