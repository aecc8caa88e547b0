import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { mergePatch } from '../api/answeredRecord';
import { failureJson, nodeFailure } from '../failure';
import type { PlannedChange, SyncAction } from './plannedChange';

/** The outputs of the node in their order: those that need attention come before Unchanged. */
export const outputNames = ['Created', 'Updated', 'Deleted', 'Conflict', 'Unchanged'] as const;

const outputs: Record<SyncAction, number> = { create: 0, update: 1, delete: 2, conflict: 3, unchanged: 4 };

/** The error of a record that failed, and its item. */
export interface SyncFailure {
	item?: number | undefined;
	error: Error;
}

/**
 * Returns the items of each output.
 *
 * @param names the fields of a record to output
 * @param failures records that were not written; they go to Conflict, from where n8n moves them to its error
 * output if the node has one
 */
export function outputOf(
	n8n: IExecuteFunctions,
	done: PlannedChange[],
	failures: SyncFailure[],
	names: ReadonlySet<string>,
): INodeExecutionData[][] {
	const result: INodeExecutionData[][] = outputNames.map(() => []);
	for (const change of done) result[outputs[change.action]]!.push(itemOf(change, names));
	for (const { item, error } of failures) {
		result[outputs.conflict]!.push({ json: failureJson(nodeFailure(n8n, error, item)), ...linkTo(item) });
	}
	return result;
}

function itemOf(change: PlannedChange, names: ReadonlySet<string>): INodeExecutionData {
	const { action, item, record, values, patch, changes, reason } = change;
	const outputRecord: IDataObject = (record && patch ? mergePatch(record, patch) : record) ?? values ?? {};
	const json: IDataObject = {};
	for (const name of Object.keys(outputRecord)) if (names.has(name)) json[name] = outputRecord[name];
	json.sync = { action, changes: changes as unknown as IDataObject[], reason: reason ?? null };
	return { json, ...linkTo(item) };
}

const linkTo = (item: number | undefined): Pick<INodeExecutionData, 'pairedItem'> =>
	item === undefined ? {} : { pairedItem: { item } };
