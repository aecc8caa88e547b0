import type { IDataObject } from 'n8n-workflow';

import { type Collection, encodedPath } from '../api/http/path';
import { outdatedVersion } from '../api/http/statuses';
import type { WriteDescription } from '../api/openapi/writing';
import { mergePatch } from '../api/record';
import { isAnsweredWith, isRefused, isNotFound } from '../api/refusals';
import { requireDescribed } from '../api/requireDescribed';
import { idText } from '../base/json';
import { withoutMembers } from '../base/ownMembers';
import type { DifferingValue } from '../fields/recordComparison';
import type { IdentifiedRecord } from '../lookUp/lookUp';
import type { NodeRun, ProceedAfter, Write } from '../model';
import { runAll } from '../schedule';
import { inSlices } from '../writing/batches';
import { protectVersions, versionOf } from '../writing/versions';

/** A value of a record that changes, or stays although another one is wanted. */
export interface FieldChange extends DifferingValue {
	/** What people call the field, and the names of linked records. */
	label?: string;
	from_name?: unknown;
	to_name?: unknown;
	/** Whether the CRM's value stays. */
	kept?: true;
}

/** The decision about one record. */
export interface RecordChange {
	action: 'create' | 'update' | 'unchanged' | 'delete' | 'conflict';
	/** Index of the input item that asks for it; undefined if it follows from what the items do not have. */
	item?: number;
	record?: IdentifiedRecord;
	/** The wanted values, if the CRM has no record. */
	values?: IDataObject;
	/** The id that the record of a creation once had: if it exists after all, none is created. */
	formerId?: string;
	/** The body that creates or updates the record. */
	patch?: IDataObject;
	/** What its key names, the event of a deletion that it undoes or `mergeSubject`; then it is sent alone. */
	keySubject?: string;
	/** Whether it is a deletion that leaves nothing to restore; then it is sent alone, too. */
	isPermanent?: true;
	changes: FieldChange[];
	/** Why the action differs from what the values alone would suggest. */
	reason?: string;
}

/** The decision to leave a record alone and report it. */
export const asConflict = (planned: RecordChange, reason: string): RecordChange =>
	({ ...withoutMembers(planned, 'patch'), action: 'conflict', reason });

/** A planned change or its result, or what a write would do: any other action than the usual ones has the name of its operation. */
export interface ReportedChange extends Omit<RecordChange, 'action' | 'record'> {
	action: string;
	record?: IDataObject;
}

/**
 * What an output says about a change: the record, and what was done. In `changes`, `from` is the CRM's value, `to` the wanted
 * one, and `kept` a change that was not made; `reason` names the rule, limit or version that decided.
 *
 * @param names the fields of a record to output
 * @param member the name of the member that says what was done
 */
export function reportedRecord(
	{ action, record, values, patch, changes, reason }: ReportedChange, names: ReadonlySet<string>, member: string,
): IDataObject {
	const afterwards: IDataObject = (record && patch ? mergePatch(record, patch) : record) ?? values ?? {};
	const shown = Object.fromEntries(Object.entries(afterwards).filter(([name]) => names.has(name)));
	return { ...shown, [member]: { action, changes: changes as unknown as IDataObject[], reason: reason ?? null } };
}

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
	const proceedAfter: ProceedAfter = (answers) => {
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
		const answers = await sendChanges(run, described[action], { collection, writes: changes, runKey }, proceedAfter);
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

/** The write of a change: the record to change or delete, and the body that creates or changes one, as a merge patch (RFC 7396). */
export type ChangeWrite = Pick<ReportedChange, 'record' | 'patch' | 'keySubject' | 'isPermanent'>;

/**
 * Makes changes of one action: under keys of their own, and under the versions that were read.
 *
 * @param runKey distinguishes their keys from those of other changes
 * @returns the answer to each write: the record as the service returned it, or the error; undefined if it was not tried
 */
export async function sendChanges(
	run: NodeRun, description: WriteDescription,
	{ collection, writes, runKey }: { collection: Collection; writes: ChangeWrite[]; runKey: string }, proceedAfter: ProceedAfter,
): Promise<Array<IDataObject | Error | undefined>> {
	const prepared = writes.map(({ record, patch, keySubject, isPermanent }): Write => {
		const id = record && String(record.id);
		const target = id === undefined ? { path: collection } : { id, path: collection + encodedPath`/${id}` };
		return { collection, ...target, version: versionOf(record), body: patch, keySubject, query: isPermanent ? { permanent: true } : undefined };
	});
	const areAlone = protectVersions(run, description, writes.map(({ record }) => record))
		|| writes.some(({ keySubject, isPermanent }) => keySubject !== undefined || isPermanent);
	const work = inSlices({ ...run, identity: { ...run.identity, runKey } }, { description, writes: prepared, output: {} }, areAlone);
	const answers: Array<IDataObject | Error | undefined> = writes.map(() => undefined);
	for await (const { item, result } of runAll(work, writes.length, proceedAfter)) {
		// What is gone for good was erased before, perhaps by an attempt whose response was lost.
		const isErased = writes[item]!.isPermanent && isNotFound(result);
		answers[item] = isErased ? {} : result instanceof Error ? result : withTextId(result as IDataObject);
	}
	return answers;
}

function withTextId({ id, ...record }: IDataObject): IDataObject {
	const text = idText(id);
	return text === undefined ? record : { ...record, id: text };
}

/** Why a record is not as it was when a sync or an undo read it; undefined if the error says nothing of the kind. */
export function changedSinceRead(error: Error): string | undefined {
	if (isAnsweredWith(error, outdatedVersion)) return 'The CRM’s record was changed after this run read it. Nothing was overwritten.';
	return isNotFound(error) ? 'The CRM’s record was deleted after this run read it.' : undefined;
}

/**
 * Reports a plan that changes more records than the user allows.
 *
 * @param effect such as `change`; `purpose`, such as `undo them`
 * @throws Error in the user's words, except in a preview
 */
export function checkMaximum(
	count: number,
	{ maximum, label, effect, purpose, isPreview }: { maximum: number; label: string; effect: string; purpose: string; isPreview: boolean },
	notices: Set<string>,
): void {
	if (count <= maximum) return;
	const message = `${count} records would ${effect}, and ${label} allows ${maximum}. To ${purpose}, set ${label} to ${count}.`;
	if (!isPreview) throw new Error(`${message} Nothing was written.`);
	notices.add(message);
}
