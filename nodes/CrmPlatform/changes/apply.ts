import type { IDataObject } from 'n8n-workflow';

import type { WriteDescription } from '../api/openapi/writing';
import { isAnsweredWith, isNotFound, isRefused, mergePatch } from '../api/record';
import { idText } from '../base/json';
import { encodedPath, type Collection } from '../api/http/path';
import { outdatedVersion } from '../api/http/statuses';
import { withoutMembers } from '../base/ownMembers';
import type { NodeRun, MayContinue, Write } from '../model';
import { runAll } from '../schedule';
import type { RecordList, IdentifiedRecord } from '../lookUp/recordList';
import { inSlices } from '../writing/batches';
import { requireDescribed } from '../writing/requireWrite';
import { protectVersions, versionOf } from '../writing/replace';
import { asConflict, isInferred, type PlannedChange, type ReportedChange } from './plan';

/** The error of a record that was not written, and its item. */
export interface ChangeFailure {
	item?: number | undefined;
	error: Error;
}

/** The outcome of a plan. */
interface AppliedPlan {
	/** The changes in the order of the plan: as planned, or corrected to what the CRM reported. */
	done: PlannedChange[];
	failures: ChangeFailure[];
	/** Number of changes that were not tried after a failure. */
	untried: number;
}

/**
 * The order in which changes are made. Inferred changes come last: the outcome of the items may show that one of them is
 * such a record.
 */
const steps: Array<[action: 'update' | 'create' | 'delete', areInferred: boolean]> = [
	['update', false],
	['create', false],
	['update', true],
	['delete', true],
	['delete', false],
];

/**
 * Makes the planned changes, unless it is a preview.
 *
 * @param stopsAt whether nothing further is sent after a failure
 * @throws Error in the user's words if the service does not offer one of the writes; nothing is written then
 */
export async function applyPlan(
	run: NodeRun,
	{ path: collection }: Pick<RecordList, 'path'>,
	planned: PlannedChange[],
	{ isPreview = false, stopsAt = () => !run.n8n.continueOnFail() }: { isPreview?: boolean; stopsAt?: (error: Error) => boolean } = {},
): Promise<AppliedPlan> {
	const actions = (['update', 'create', 'delete'] as const).filter((action) => planned.some((change) => change.action === action));
	const described = await requireDescribed(run, ...actions);
	for (const action of actions) if (described[action].refusal !== undefined) throw new Error(described[action].refusal);
	if (isPreview) return { done: planned, failures: [], untried: 0 };
	const done = planned.map((change) => (actions.some((action) => action === change.action) ? undefined : change));
	const failures: ChangeFailure[] = [];
	const knownIds = new Set(planned.flatMap(({ record }) => record?.id ?? []));
	/** Why inferred changes are not made: an item that was not written may be such a record, under another key. */
	let doubt: string | undefined;
	let isStopped = false;
	const mayContinue: MayContinue = (results) => {
		isStopped ||= results.some((result) => result instanceof Error && refusalReason(result) === undefined && stopsAt(result));
		return !isStopped && !run.n8n.getExecutionCancelSignal()?.aborted;
	};

	for (const [step, [action, areInferred]] of steps.entries()) {
		const indexes = [...planned.keys()].filter((index) => planned[index]!.action === action && isInferred(planned[index]!) === areInferred);
		if (areInferred && doubt !== undefined) {
			for (const index of indexes) done[index] = asConflict(planned[index]!, doubt);
			continue;
		}
		if (indexes.length === 0) continue;
		const writes = indexes.map((index) => planned[index]!);
		// Each step has its own keys.
		const runKey = `${run.identity.run}/${step}`;
		const outcomes = await sendChanges(run, described[action], { collection, writes, runKey }, mayContinue);
		for (const [i, index] of indexes.entries()) {
			const [change, outcome] = [planned[index]!, outcomes[i]];
			if (outcome === undefined) continue;
			const reason = whyConflict(change, outcome, knownIds);
			doubt ??= doubtAfter(change, outcome, reason);
			if (reason !== undefined) done[index] = asConflict(change, reason);
			else if (outcome instanceof Error) failures.push({ item: change.item, error: outcome });
			else {
				done[index] = asWritten(change, outcome);
				knownIds.add(done[index].record!.id);
			}
		}
	}
	const left = done.filter((change) => change === undefined).length;
	return { done: done.filter((change) => change !== undefined), failures, untried: left - failures.length };
}

/** The write of a change: the record to change or delete, and the body that creates or changes one, as a merge patch (RFC 7396). */
export type ChangeWrite = Pick<ReportedChange, 'record' | 'patch' | 'deletion' | 'isPermanent'>;

/**
 * Makes changes of one action: under keys of their own, and under the versions that were read.
 *
 * @param runKey distinguishes their keys from those of other changes
 * @returns the outcome of each write: the record as the service returned it, or the error; undefined if it was not tried
 */
export async function sendChanges(
	run: NodeRun,
	description: WriteDescription,
	{ collection, writes, runKey }: { collection: Collection; writes: ChangeWrite[]; runKey: string },
	mayContinue: MayContinue,
): Promise<Array<IDataObject | Error | undefined>> {
	const { identity } = run;
	const items = writes.map(({ record, patch, deletion, isPermanent }): Write => {
		const [id, version] = [record && String(record.id), versionOf(record)];
		return {
			collection,
			path: id === undefined ? collection : collection + encodedPath`/${id}`,
			...(id !== undefined && { id }),
			...(version !== undefined && { version }),
			...(patch && { body: patch }),
			...(deletion !== undefined && { deletion }),
			...(isPermanent && { query: { permanent: true } }),
		};
	});
	const needOwnRequests = protectVersions(run, description, writes.map(({ record }) => record));
	const work = inSlices(
		{ ...run, identity: { ...identity, run: runKey } },
		{ description, items, output: {} },
		needOwnRequests || writes[0]?.deletion !== undefined || writes[0]?.isPermanent,
	);
	const outcomes: Array<IDataObject | Error | undefined> = writes.map(() => undefined);
	for await (const { item, result } of runAll(work, writes.length, mayContinue)) {
		// What is gone for good was erased before, perhaps by an attempt whose response was lost.
		const isErased = writes[item]!.isPermanent && isNotFound(result);
		outcomes[item] = isErased ? {} : result instanceof Error ? result : withTextId(result as IDataObject);
	}
	return outcomes;
}

function withTextId({ id, ...record }: IDataObject): IDataObject {
	const text = idText(id);
	return text === undefined ? record : { ...record, id: text };
}

/** The change as made. */
function asWritten(change: PlannedChange, answered: IDataObject): PlannedChange {
	if (change.action === 'delete') return change;
	const { patch = {}, ...changeWithoutPatch } = change;
	// The version that was read belongs to the previous values.
	const read: IDataObject = withoutMembers<IDataObject, string>(change.record ?? {}, 'version');
	return { ...changeWithoutPatch, record: { ...mergePatch(read, patch), ...answered } as IdentifiedRecord };
}

/** Why a change is reported as a conflict; undefined if it was made, or failed. @param knownIds ids that no created record can have */
function whyConflict({ action }: PlannedChange, outcome: IDataObject | Error, knownIds: ReadonlySet<string>): string | undefined {
	if (outcome instanceof Error) return refusalReason(outcome);
	return action === 'create' && knownIds.has(String(outcome.id)) ? notCreated(String(outcome.id)) : undefined;
}

/** Why the CRM refused a change that was valid when it was planned; undefined for errors. */
const refusalReason = (error: Error): string | undefined =>
	changedSinceRead(error) ?? (isRefused(error) && isAnsweredWith(error, 409) ? `The CRM refused the change: ${error.message}` : undefined);

/** Why inferred changes are not made after an outcome: its item may be such a record. @param reason why it is a conflict, if it is one */
function doubtAfter({ item, record }: PlannedChange, outcome: IDataObject | Error, reason: string | undefined): string | undefined {
	if (item === undefined) return undefined;
	if (!(outcome instanceof Error)) {
		return reason && `The CRM’s response to item ${item} has no new record, so the item may be this record. It was left unchanged.`;
	}
	// A record that was changed or deleted meanwhile has no other key.
	if (record && changedSinceRead(outcome) !== undefined) return undefined;
	return `Item ${item} could not be written, but may be this record. It was left unchanged.`;
}

const notCreated = (id: string) =>
	`The CRM did not create a record: it returned record ${id}, which already existed and may have been changed. Correct the values by which the two are recognized.`;

/** Why a record is not as it was when a sync or an undo read it; undefined if the error says nothing of the kind. */
export function changedSinceRead(error: Error): string | undefined {
	if (isAnsweredWith(error, outdatedVersion)) return 'The CRM’s record was changed after this run read it. Nothing was overwritten.';
	return isNotFound(error) ? 'The CRM’s record was deleted after this run read it.' : undefined;
}
