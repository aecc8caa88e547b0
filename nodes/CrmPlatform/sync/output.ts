import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';

import { mergePatch } from './compare';
import type { PlannedChange, SyncAction } from './plan';

/** The outputs of the node, in their order. */
export const outputNames = ['Created', 'Updated', 'Unchanged', 'Deleted', 'Conflict'] as const;

const outputs: Record<SyncAction, number> = { create: 0, update: 1, unchanged: 2, delete: 3, conflict: 4 };

/** A failed record, and the item it belongs to. */
export interface SyncFailure {
	item?: number | undefined;
	error: Error;
}

/**
 * The items of each output.
 *
 * @param names the fields of a record that come out
 * @param failures records that were not written; they go to Conflict, from where n8n moves them to its
 * error output if the node has one
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
		const { message, description, context } = nodeErrorOf(n8n, error, item);
		const details = { description: description ?? '', ...(context.data as IDataObject) };
		result[outputs.conflict]!.push({ json: { error: message, message, details }, ...linkTo(item) });
	}
	return result;
}

function itemOf(change: PlannedChange, names: ReadonlySet<string>): INodeExecutionData {
	const { action, item, record, values, patch, changes, reason } = change;
	const whole: IDataObject = record ? mergePatch(record, patch ?? {}) : (values ?? {});
	const json: IDataObject = {};
	for (const [name, value] of Object.entries(whole)) if (names.has(name)) json[name] = value;
	json.sync = { action, changes: changes as unknown as IDataObject[], reason: reason ?? null };
	return { json, ...linkTo(item) };
}

const linkTo = (item: number | undefined): Pick<INodeExecutionData, 'pairedItem'> =>
	item === undefined ? {} : { pairedItem: { item } };

/** The error as n8n shows it, with the item it is about. */
export function nodeErrorOf(
	n8n: IExecuteFunctions,
	error: Error,
	item: number | undefined,
): NodeApiError | NodeOperationError {
	const isKnown = error instanceof NodeApiError || error instanceof NodeOperationError;
	const failure = isKnown ? error : new NodeOperationError(n8n.getNode(), error);
	failure.context.itemIndex ??= item;
	return failure;
}
