import type { IDataObject } from 'n8n-workflow';

import type { WriteDescription } from '../api/openapi/writing';
import { isAnsweredWith, isNotFound } from '../api/fetchRecord';
import { idText } from '../base/json';
import { path as pathOf } from '../api/http/path';
import { mergePatch } from '../api/answeredRecord';
import { outdatedVersion } from '../api/http/statuses';
import type { Field } from '../fields/field';
import { looseText } from '../fields/keys';
import type { Execution, MayContinue, SlicedRun } from '../model';
import { runAll } from '../schedule';
import type { Collection } from '../lookUp/lookUp';
import { writeRecords } from '../writing/batches';
import { isWithoutRecord } from '../writing/writeOne';
import { requireDescribed } from '../writing/requireWrite';
import type { Write } from '../writing/writeOrder';
import { protectionOf, versionOf } from '../writing/replace';
import { UnsafeDeletions, withoutRecord } from './unsafeDeletions';
import type { CrmRecord } from './crmIndex';
import type { SyncFailure } from './syncOutputs';
import { asConflict, isMissingInSource, type PlannedChange } from './plannedChange';

type WriteAction = 'update' | 'create' | 'delete';

/** The outcome of a plan. */
export interface AppliedPlan {
	/** The changes in the order of the plan: as planned, or corrected to what the CRM reported. */
	done: PlannedChange[];
	failures: SyncFailure[];
	/** Number of changes that were not tried after a failure. */
	untried: number;
}

/**
 * The order in which changes are made. Records missing in the source come last: the outcome of its items may
 * show that one of them is such a record.
 */
const steps: Array<[action: WriteAction, areMissing: boolean]> = [
	['update', false],
	['create', false],
	['update', true],
	['delete', true],
];

/**
 * The descriptions of the writes that a plan needs.
 *
 * @throws Error in the user's words if the service does not offer one of them
 */
export async function describedWrites(
	execution: Execution,
	planned: PlannedChange[],
): Promise<Map<WriteAction, WriteDescription>> {
	const described = new Map<WriteAction, WriteDescription>();
	for (const action of ['update', 'create', 'delete'] as const) {
		if (!planned.some((change) => change.action === action)) continue;
		const description = await requireDescribed(execution, action);
		if (description.refusal !== undefined) throw new Error(description.refusal);
		described.set(action, description);
	}
	return described;
}

/** Makes the planned changes. */
export async function applyPlan(
	execution: Execution,
	{ path: collection, list: { changed } }: Pick<Collection, 'path' | 'list'>,
	match: Field[],
	planned: PlannedChange[],
	described: Map<WriteAction, WriteDescription>,
): Promise<AppliedPlan> {
	const { n8n } = execution;
	const isWrite = ({ action }: PlannedChange) => described.has(action as WriteAction);
	const done = planned.map((change) => (isWrite(change) ? undefined : change));
	const failures: SyncFailure[] = [];
	const doubts = new UnsafeDeletions(planned, match);
	const mayContinue: MayContinue = (results) =>
		!n8n.getExecutionCancelSignal()?.aborted &&
		(n8n.continueOnFail() || (failures.length === 0 && !results.some((result) => result instanceof Error)));

	for (const [step, [action, areMissing]] of steps.entries()) {
		const places: number[] = [];
		for (const [place, change] of planned.entries()) {
			if (change.action !== action || isMissingInSource(change) !== areMissing) continue;
			const doubt = areMissing ? doubts.about(change) : undefined;
			if (doubt === undefined) places.push(place);
			else done[place] = asConflict(change, doubt);
		}
		const description = described.get(action);
		if (!description || places.length === 0) continue;
		const changes = places.map((place) => planned[place]!);
		const work = writesOf(execution, collection, description, changes, step);
		for await (const itemResults of runAll(work, places.length, mayContinue)) {
			for (const { item: index, result } of itemResults) {
				const change = changes[index]!;
				if (result instanceof Error) {
					failures.push({ item: change.item, error: result });
					doubts.add(change, result);
				} else {
					const outcome = result as unknown as WriteOutcome;
					if ('error' in outcome) doubts.add(change, outcome.error);
					const problem = 'error' in outcome ? outcome.reason : doubts.addAnswer(change, outcome.record);
					done[places[index]!] =
						'error' in outcome || problem !== undefined
							? asConflict(change, problem!)
							: asWritten(change, outcome.record, changed?.field);
				}
			}
		}
	}
	const left = done.filter((change) => change === undefined).length;
	return { done: done.filter((change) => change !== undefined), failures, untried: left - failures.length };
}

/** The record as the service returned it, or why the CRM refused the change. */
type WriteOutcome = { record: IDataObject } | { reason: string; error: Error };

/** The writes of one step, for the writer. */
function writesOf(
	execution: Execution,
	collection: string,
	description: WriteDescription,
	changes: PlannedChange[],
	step: number,
): SlicedRun {
	const { identity, operation } = execution;
	return writeRecords(
		// Each step has its own keys; options of the operation do not apply to a sync.
		{ ...execution, operation: { ...operation, options: [] }, identity: { ...identity, run: `${identity.run}/${step}` } },
		description,
		(index) => writeOf(collection, changes[index]!),
		({ id, ...record }, _, { status }): IDataObject => {
			// A change that is only accepted is answered with a job (RFC 9110, section 15.3.3).
			if (status === 202) return { record: {} };
			return { record: { ...record, ...(idText(id) !== undefined && { id: idText(id) }) } };
		},
		{
			...protectionOf(execution, description, changes.map(({ record }) => record)),
			onRefusal(error) {
				const reason = conflictIn(error);
				return reason === undefined ? error : { reason, error };
			},
		},
	);
}

function writeOf(collection: string, { record, patch }: PlannedChange): Write {
	const version = versionOf(record);
	return {
		collection,
		path: record ? collection + pathOf`/${record.id}` : collection,
		...(record && { id: record.id, before: record }),
		...(version !== undefined && { version }),
		...(patch && { body: patch }),
	};
}

/** The change as made: if the version is unchanged, the service had stored these values before. */
function asWritten(change: PlannedChange, answered: IDataObject, changedField: string | undefined): PlannedChange {
	const { patch = {}, ...changeWithoutPatch } = change;
	if (change.action === 'delete') return change;
	// The version and the time that were read belong to the previous values.
	const { version, ...read }: IDataObject = change.record ?? {};
	if (changedField !== undefined) delete read[changedField];
	const record = { ...mergePatch(read, patch), ...answered } as CrmRecord;
	if (version === undefined || version !== answered.version) return { ...changeWithoutPatch, record };
	const isStored = change.changes.every(({ from, to, kept }) => kept || looseText(from) === looseText(to));
	if (isStored) return { ...changeWithoutPatch, record, action: 'unchanged', reason: storedAlready };
	const { version: _, ...unclear } = record;
	return { ...changeWithoutPatch, record: unclear, reason: answeredAsBefore };
}

/** Why the CRM refused a change that was valid when it was planned; undefined for errors. */
function conflictIn(error: Error): string | undefined {
	if (isAnsweredWith(error, outdatedVersion)) return changedMeanwhile;
	if (isNotFound(error)) return deletedMeanwhile;
	if (isAnsweredWith(error, 409)) return `The CRM refused the change: ${error.message}`;
	return isWithoutRecord(error) ? withoutRecord : undefined;
}

const storedAlready = 'The CRM already had these values; it stores them in a different format.';
const answeredAsBefore =
	'The CRM accepted the change but returned the previous version: it stores these values in a different format, or its response was outdated. The next run shows which.';
const changedMeanwhile = 'The CRM’s record was changed after this run read it. Nothing was overwritten.';
const deletedMeanwhile = 'The CRM’s record was deleted after this run read it.';
