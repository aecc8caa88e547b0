import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { upsertOutcomeField } from './api/record';
import { isToolCall } from './api/toolNode';
import { withoutMembers } from './base/ownMembers';
import { countedReasons, failureJson, type ItemFailure } from './failure';
import { ItemWithFiles, type OutputItem } from './model';

export type ItemResult = { item: number; outputs: OutputItem[] } | ItemFailure;

interface Output {
	items: INodeExecutionData[];
	failures: ItemFailure[];
	/** How many of the input items succeeded. */
	done: number;
}

/** Outputs each result and failure, linked to its input. A failure has the values of its input, as n8n adds them on the error output. */
export async function allItems(n8n: IExecuteFunctions, results: AsyncIterable<ItemResult>): Promise<Output> {
	const items: INodeExecutionData[] = [];
	const failures: ItemFailure[] = [];
	let done = 0;
	// n8n would not recognize a failure with other members (n8n-core 2.41, handleNodeErrorOutput).
	const inputs = n8n.getNode().onError === 'continueErrorOutput' || isToolCall(n8n) ? [] : n8n.getInputData();
	for await (const itemResult of results) {
		if ('failure' in itemResult) {
			const { json, pairedItem } = failedItem(itemResult);
			failures.push(itemResult);
			items.push({ json: { ...inputs[itemResult.item]?.json, ...json }, pairedItem });
			continue;
		}
		done += 1;
		const pairedItem = { item: itemResult.item };
		for (const output of itemResult.outputs) {
			if (output instanceof ItemWithFiles) items.push({ json: output.json, binary: output.files, pairedItem });
			else items.push({ json: withoutError(output), pairedItem });
		}
	}
	return { items, failures, done };
}

/**
 * Outputs one item, linked to the first and the last input: n8n finds the item of an earlier node that both come from, or reports several.
 *
 * @param count number of input items
 * @param isUpsert whether it counts what was created and updated
 */
export async function summaryItem(
	n8n: IExecuteFunctions, results: AsyncIterable<ItemResult>, count: number, isUpsert: boolean,
): Promise<Output> {
	const outcomes: Record<string, number> = isUpsert ? { created: 0, updated: 0 } : {};
	const failures: ItemFailure[] = [];
	let [done, records] = [0, 0];
	let ids: { first: unknown; last: unknown } | undefined;
	for await (const itemResult of results) {
		if ('failure' in itemResult) {
			failures.push(itemResult);
			continue;
		}
		done += 1;
		for (const output of itemResult.outputs) {
			const { id, [upsertOutcomeField]: outcome } = output instanceof ItemWithFiles ? output.json : output;
			records += 1;
			if (id !== undefined) ids = { first: ids?.first ?? id, last: id };
			if (typeof outcome === 'string' && Object.hasOwn(outcomes, outcome)) outcomes[outcome]! += 1;
		}
	}
	const reasons = countedReasons(failures.map(({ failure }) => failure.message));
	const json = {
		items: count,
		succeeded: done,
		failed: failures.length,
		records,
		// A service need not report them.
		...(records === 0 || Object.values(outcomes).some((times) => times > 0) ? outcomes : {}),
		first_id: ids?.first ?? null,
		last_id: ids?.last ?? null,
		reasons: reasons.map(({ count: times, message }) => ({ count: times, message })),
		// A run may have thousands, and n8n stores each.
		failures: failures.slice(0, 20).map(({ item, failure }) => ({ item, ...withoutMembers(failureJson(failure), 'error') })),
	} as IDataObject;
	const pairedItem = count > 1 ? [{ item: 0 }, { item: count - 1 }] : { item: 0 };
	// n8n takes the items of failures out for the error output.
	const apart = n8n.getNode().onError === 'continueErrorOutput' ? failures.map(failedItem) : [];
	return { items: [{ json, pairedItem }, ...apart], failures, done };
}

const failedItem = ({ item, failure }: ItemFailure) => ({ json: failureJson(failure), pairedItem: { item } });

/** Renames a record's `error`: under Retry On Fail, n8n repeats a node whose first item has one (n8n-core 2.41, WorkflowExecute, checkFailure). */
function withoutError(record: IDataObject): IDataObject {
	if (!Object.hasOwn(record, 'error')) return record;
	const { error, ...others } = record;
	return { ...others, [Object.hasOwn(others, 'error_info') ? 'error_info_2' : 'error_info']: error };
}
