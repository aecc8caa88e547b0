import { NodeApiError, type IDataObject } from 'n8n-workflow';

import { mergePatch } from '../api/record';
import type { Execution } from '../model';
import { describedOperation } from '../writing/describedOperation';
import type { Collection } from '../mapping/lookUp';
import type { CrmRecord } from './matching';
import type { SyncFailure } from './output';
import { asConflict, type PlannedChange } from './plan';
import { writeAll, type RecordWrite, type WriteResult } from './writeChanges';

/** What became of a plan. */
export interface AppliedPlan {
	/** In the order of the plan: as it was planned, or as the CRM had it otherwise. */
	done: PlannedChange[];
	failures: SyncFailure[];
	/** How many changes were not tried after a failure. */
	untried: number;
}

/** Makes the planned changes: updates, then new records, then deletions. */
export async function applyPlan(
	execution: Execution,
	{ path }: Pick<Collection, 'path'>,
	planned: PlannedChange[],
): Promise<AppliedPlan> {
	// By their places in the plan.
	const made: PlannedChange[] = [];
	const failures: SyncFailure[] = [];
	let untried = 0;
	let count = 0;
	const isWanted = () =>
		!execution.n8n.getExecutionCancelSignal()?.aborted && (failures.length === 0 || execution.n8n.continueOnFail());

	for (const action of ['update', 'create', 'delete'] as const) {
		const places = [...planned.keys()].filter((place) => planned[place]!.action === action);
		if (places.length === 0) continue;
		if (!isWanted()) {
			untried += places.length;
			continue;
		}
		const description = await describedOperation(execution, action);
		const writes = places.map((place) => writeOf(planned[place]!));
		const isGoing = (results: Array<WriteResult | undefined>) =>
			!execution.n8n.getExecutionCancelSignal()?.aborted &&
			(execution.n8n.continueOnFail() || results.every((result) => !isFailure(result)));
		const results = await writeAll(execution, description, path, writes, () => count++, isGoing);
		for (const [i, place] of places.entries()) {
			const change = planned[place]!;
			const result = results[i];
			if (!result) untried += 1;
			else if ('record' in result) made[place] = written(change, result.record);
			else {
				const reason = conflictIn(result.error);
				if (reason === undefined) failures.push({ item: change.item, error: result.error });
				else made[place] = asConflict(change, reason);
			}
		}
	}
	const done = planned.flatMap((change, place) => {
		const isLeft = change.action === 'unchanged' || change.action === 'conflict';
		return (isLeft ? change : made[place]) ?? [];
	});
	return { done, failures, untried };
}

const isFailure = (result: WriteResult | undefined): boolean =>
	result !== undefined && 'error' in result && conflictIn(result.error) === undefined;

function writeOf({ record, patch }: PlannedChange): RecordWrite {
	const result: RecordWrite = {};
	if (record) result.id = record.id;
	if (record && (typeof record.version === 'number' || typeof record.version === 'string')) {
		result.version = record.version;
	}
	if (patch) result.body = patch;
	return result;
}

/** The change as it was made: a service that keeps the version has stored these values before. */
function written(change: PlannedChange, answered: IDataObject): PlannedChange {
	const { patch = {}, ...made } = change;
	if (change.action === 'delete') return change;
	const record = { ...mergePatch(change.record ?? {}, patch), ...answered } as CrmRecord;
	const version = change.record?.version;
	if (version === undefined || version !== answered.version) return { ...made, record };
	return { ...made, record, action: 'unchanged', reason: storedAlready };
}

/** Why the CRM refused a change that it would have taken when it was planned; undefined for errors. */
function conflictIn(error: Error): string | undefined {
	if (!(error instanceof NodeApiError)) return undefined;
	switch (error.httpCode) {
		case '412':
			return changedMeanwhile;
		case '404':
		case '410':
			return deletedMeanwhile;
		case '409':
			return `The CRM refuses the change: ${error.message}`;
		default:
			return undefined;
	}
}

const storedAlready = 'The CRM stores these values in another notation; it had them already.';
const changedMeanwhile = 'The CRM’s record was changed after this run had read it. Nothing was overwritten.';
const deletedMeanwhile = 'The CRM’s record was deleted after this run had read it.';
