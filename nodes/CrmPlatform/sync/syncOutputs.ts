import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { ChangeFailure } from '../changes/apply';
import { reportedRecord } from '../changes/outcomes';
import type { PlannedChange } from '../changes/plan';
import { failureJson, nodeFailure } from '../failure';

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
export function outputOf(
	n8n: IExecuteFunctions,
	done: PlannedChange[],
	failures: ChangeFailure[],
	names: ReadonlySet<string>,
): INodeExecutionData[][] {
	const result: INodeExecutionData[][] = outputNames.map(() => []);
	for (const change of done) {
		result[outputs[change.action]]!.push({ json: reportedRecord(change, names, 'sync'), ...linkTo(change.item) });
	}
	for (const { item, error } of failures) {
		result[outputs.conflict]!.push({ json: failureJson(nodeFailure(n8n, error, item)), ...linkTo(item) });
	}
	return result;
}

const linkTo = (item: number | undefined): Pick<INodeExecutionData, 'pairedItem'> =>
	item === undefined ? {} : { pairedItem: { item } };
