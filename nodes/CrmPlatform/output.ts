import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { upsertOutcomeField } from './api/record';
import { isToolCall } from './api/toolNode';
import { countedReasons, failureJson, type ItemFailure } from './failure';
import { ItemWithFiles, type OutputItem } from './model';

/** Collects the node's output in the order of the input items. */
export interface Output {
	add(item: number, result: OutputItem): void;
	fail(failure: ItemFailure): void;
	/** @param done how many of the input items succeeded */
	items(done: number): INodeExecutionData[];
}

/**
 * Outputs each result and each failure as an item that is linked to its input. A failure has the values of its input, as n8n
 * adds them on the error output.
 */
export function allItems(n8n: IExecuteFunctions): Output {
	const items: INodeExecutionData[] = [];
	// n8n would not recognize a failure with other members (n8n-core 2.41, handleNodeErrorOutput).
	const inputs = n8n.getNode().onError === 'continueErrorOutput' || isToolCall(n8n) ? [] : n8n.getInputData();
	return {
		add(item, result) {
			const pairedItem = { item };
			if (result instanceof ItemWithFiles) items.push({ json: result.json, binary: result.files, pairedItem });
			else items.push({ json: withoutError(result), pairedItem });
		},
		fail(failure) {
			const { json, pairedItem } = failedItem(failure);
			items.push({ json: { ...inputs[failure.item]?.json, ...json }, pairedItem });
		},
		items: () => items,
	};
}

/**
 * Outputs one item, however many records there are. It is linked to the first and the last input item: if both come
 * from one item of an earlier node, n8n finds that item; otherwise n8n reports that there are several.
 *
 * @param count number of input items
 * @param isUpsert whether it counts what was created and updated
 */
export function summaryItem(n8n: IExecuteFunctions, count: number, isUpsert: boolean): Output {
	const counts: Record<string, number> = isUpsert ? { created: 0, updated: 0 } : {};
	const failures: ItemFailure[] = [];
	let records = 0;
	let ids: { first: unknown; last: unknown } | undefined;
	return {
		add(_item, result) {
			const record = result instanceof ItemWithFiles ? result.json : result;
			const { id, [upsertOutcomeField]: outcome } = record;
			records += 1;
			if (id !== undefined) ids = { first: ids?.first ?? id, last: id };
			if (typeof outcome === 'string' && Object.hasOwn(counts, outcome)) counts[outcome]! += 1;
		},
		fail: (failure) => void failures.push(failure),
		items(done) {
			const reasons = countedReasons(failures.map(({ failure }) => failure.message));
			const json = {
				items: count,
				succeeded: done,
				failed: failures.length,
				records,
				// A service need not report them.
				...(records === 0 || Object.values(counts).some((times) => times > 0) ? counts : {}),
				first_id: ids?.first ?? null,
				last_id: ids?.last ?? null,
				reasons: reasons.map(({ count: times, message }) => ({ count: times, message })),
				// A run may have thousands, and n8n stores each.
				failures: failures.slice(0, 20).map(({ item, failure }) => {
					const { message, details } = failureJson(failure);
					return { item, message, details };
				}),
			} as IDataObject;
			const pairedItem = count > 1 ? [{ item: 0 }, { item: count - 1 }] : { item: 0 };
			// n8n takes the items of failures out for the error output.
			const apart = n8n.getNode().onError === 'continueErrorOutput' ? failures.map(failedItem) : [];
			return [{ json, pairedItem }, ...apart];
		},
	};
}

const failedItem = ({ item, failure }: ItemFailure) => ({ json: failureJson(failure), pairedItem: { item } });

/**
 * Renames the member `error` of a record: under Retry On Fail, n8n takes a first item that has one for a failure and
 * runs the node again (n8n-core 2.41, WorkflowExecute, checkFailure). The value moves to `error_info`.
 */
function withoutError(record: IDataObject): IDataObject {
	if (!Object.hasOwn(record, 'error')) return record;
	const { error, ...others } = record;
	return { ...others, [Object.hasOwn(others, 'error_info') ? 'error_info_2' : 'error_info']: error };
}
