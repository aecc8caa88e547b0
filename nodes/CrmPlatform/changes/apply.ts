import type { IDataObject } from 'n8n-workflow';

import { isAnsweredWith, isRefused } from '../api/refusals';
import { mergePatch } from '../api/record';
import type { Collection } from '../api/http/path';
import { requireDescribed } from '../api/requireDescribed';
import { withoutMembers } from '../base/ownMembers';
import type { NodeRun, MayContinue } from '../model';
import type { IdentifiedRecord } from '../lookUp/recordList';
import { asConflict, type RecordChange } from './recordChange';
import { changedSinceRead, sendChanges } from './sendChanges';

/** The changes that are written one after another: those that items ask for first, except for deletions. */
const phases = [
	{ action: 'update', from: 'items' },
	{ action: 'create', from: 'items' },
	{ action: 'update', from: 'inferred' },
	{ action: 'delete', from: 'inferred' },
	{ action: 'delete', from: 'items' },
] as const;

/**
 * Makes the planned changes, unless it is a preview, step by step. The results of the items may show that one of them is a
 * record that no item seemed to be, and then no inferred change is made.
 *
 * @param stopsAt whether nothing further is sent after a failure
 * @returns what became of each change, in their order: as planned, corrected to what the CRM reported, or the error; undefined
 * if it was not tried
 * @throws Error in the user's words if the service does not offer one of the writes; nothing is written then
 */
export async function applyPlan(
	run: NodeRun, collection: Collection, planned: RecordChange[],
	{ isPreview = false, stopsAt = () => !run.n8n.continueOnFail() }: { isPreview?: boolean; stopsAt?: (error: Error) => boolean } = {},
): Promise<Array<RecordChange | Error | undefined>> {
	const actions = (['update', 'create', 'delete'] as const).filter((action) => planned.some((change) => change.action === action));
	const described = await requireDescribed(run, ...actions);
	for (const action of actions) if (described[action].refusal !== undefined) throw new Error(described[action].refusal);
	if (isPreview) return planned;

	const results = new Map<RecordChange, RecordChange | Error>();
	let isStopped = false;
	const mayContinue: MayContinue = (answers) => {
		isStopped ||= answers.some((answer) => answer instanceof Error && refusalReason(answer) === undefined && stopsAt(answer));
		return !isStopped && !run.n8n.getExecutionCancelSignal()?.aborted;
	};
	/** The ids that no created record can have. */
	const knownIds = new Set(planned.flatMap(({ record }) => record?.id ?? []));
	/** Why an item may be a record that no item seemed to be. */
	let doubt: string | undefined;
	for (const { action, from } of phases) {
		const changes = planned.filter((change) => change.action === action && (change.item === undefined) === (from === 'inferred'));
		if (changes.length === 0) continue;
		if (from === 'inferred' && doubt !== undefined) {
			for (const change of changes) results.set(change, asConflict(change, doubt));
			continue;
		}
		// Each step has keys of its own.
		const runKey = `${run.identity.runKey}/${action}/${from}`;
		const answers = await sendChanges(run, described[action], { collection, writes: changes, runKey }, mayContinue);
		for (const [i, change] of changes.entries()) {
			const answer = answers[i];
			if (answer === undefined) continue;
			const { result, doubt: itsDoubt } = outcomeOf(change, answer, knownIds);
			results.set(change, result);
			if (from === 'items') doubt ??= itsDoubt;
			if (!(answer instanceof Error) && answer.id !== undefined) knownIds.add(String(answer.id));
		}
	}
	return planned.map((change) => (change.action === 'unchanged' || change.action === 'conflict' ? change : results.get(change)));
}

function asWritten(change: RecordChange, answer: IDataObject): RecordChange {
	if (change.action === 'delete') return change;
	const { patch = {}, ...changeWithoutPatch } = change;
	// The version that was read belongs to the previous values.
	const before: IDataObject = withoutMembers<IDataObject, string>(change.record ?? {}, 'version');
	return { ...changeWithoutPatch, record: { ...mergePatch(before, patch), ...answer } as IdentifiedRecord };
}

/** What became of a change, and why its item may be another record than it seemed to be. @param knownIds ids that no created record can have */
function outcomeOf(change: RecordChange, answer: IDataObject | Error, knownIds: ReadonlySet<string>) {
	const { action, item, record } = change;
	if (!(answer instanceof Error)) {
		const id = String(answer.id);
		if (action !== 'create' || !knownIds.has(id)) return { result: asWritten(change, answer) };
		const doubt = `The CRM’s response to item ${item} has no new record, so the item may be this record. It was left unchanged.`;
		return { result: asConflict(change, notCreated(id)), doubt };
	}
	const [reason, doubt] = [refusalReason(answer), `Item ${item} could not be written, but may be this record. It was left unchanged.`];
	const result = reason === undefined ? answer : asConflict(change, reason);
	// A record that was changed or deleted meanwhile has no other key.
	return record && changedSinceRead(answer) !== undefined ? { result } : { result, doubt };
}

/** Why the CRM refused a change that was valid when it was planned; undefined for errors. */
const refusalReason = (error: Error): string | undefined =>
	changedSinceRead(error) ?? (isRefused(error) && isAnsweredWith(error, 409) ? `The CRM refused the change: ${error.message}` : undefined);

const notCreated = (id: string) =>
	`The CRM did not create a record: it returned record ${id}, which already existed and may have been changed. Correct the values by which the two are recognized.`;
