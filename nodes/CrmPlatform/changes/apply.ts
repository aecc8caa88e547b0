import type { IDataObject } from 'n8n-workflow';

import type { WriteDescription } from '../api/openapi/writing';
import { isAnsweredWith, isNotFound, isRefused, mergePatch } from '../api/record';
import { idText } from '../base/json';
import { encodedPath, type Collection } from '../api/http/path';
import { outdatedVersion } from '../api/http/statuses';
import { withoutMembers } from '../base/ownMembers';
import type { NodeRun, MayContinue, Write } from '../model';
import { runAll } from '../schedule';
import type { IdentifiedRecord } from '../lookUp/recordList';
import { inSlices } from '../writing/batches';
import { requireDescribed } from '../writing/requireWrite';
import { protectVersions, versionOf } from '../writing/versions';
import { asConflict, isInferred, type PlannedChange, type ReportedChange } from './plan';

/** The changes that are written one after another: those that items ask for first, except for deletions. */
const steps = [
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
 * @returns what became of each change, unless it was not tried: as planned, corrected to what the CRM reported, or the error
 * @throws Error in the user's words if the service does not offer one of the writes; nothing is written then
 */
export async function applyPlan(
	run: NodeRun,
	collection: Collection,
	planned: PlannedChange[],
	{ isPreview = false, stopsAt = () => !run.n8n.continueOnFail() }: { isPreview?: boolean; stopsAt?: (error: Error) => boolean } = {},
): Promise<Map<PlannedChange, PlannedChange | Error>> {
	const actions = (['update', 'create', 'delete'] as const).filter((action) => planned.some((change) => change.action === action));
	const described = await requireDescribed(run, ...actions);
	for (const action of actions) if (described[action].refusal !== undefined) throw new Error(described[action].refusal);
	const leftAlone = planned.filter(({ action }) => isPreview || action === 'unchanged' || action === 'conflict');
	const results = new Map<PlannedChange, PlannedChange | Error>(leftAlone.map((change) => [change, change]));
	if (isPreview) return results;

	let isStopped = false;
	const mayContinue: MayContinue = (answers) => {
		isStopped ||= answers.some((answer) => answer instanceof Error && refusalReason(answer) === undefined && stopsAt(answer));
		return !isStopped && !run.n8n.getExecutionCancelSignal()?.aborted;
	};
	/** The ids that no created record can have. */
	const knownIds = new Set(planned.flatMap(({ record }) => record?.id ?? []));
	/** Why an item may be a record that no item seemed to be. */
	let doubt: string | undefined;
	for (const { action, from } of steps) {
		const changes = planned.filter((change) => change.action === action && isInferred(change) === (from === 'inferred'));
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
			const reason = whyConflict(change, answer, knownIds);
			results.set(change, reason !== undefined ? asConflict(change, reason) : answer instanceof Error ? answer : asWritten(change, answer));
			doubt ??= doubtAfter(change, answer, reason);
			if (!(answer instanceof Error) && answer.id !== undefined) knownIds.add(String(answer.id));
		}
	}
	return results;
}

/** The write of a change: the record to change or delete, and the body that creates or changes one, as a merge patch (RFC 7396). */
export type ChangeWrite = Pick<ReportedChange, 'record' | 'patch' | 'deletion' | 'isPermanent'>;

/**
 * Makes changes of one action: under keys of their own, and under the versions that were read.
 *
 * @param runKey distinguishes their keys from those of other changes
 * @returns the answer to each write: the record as the service returned it, or the error; undefined if it was not tried
 */
export async function sendChanges(
	run: NodeRun,
	description: WriteDescription,
	{ collection, writes, runKey }: { collection: Collection; writes: ChangeWrite[]; runKey: string },
	mayContinue: MayContinue,
): Promise<Array<IDataObject | Error | undefined>> {
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
	const areAlone = protectVersions(run, description, writes.map(({ record }) => record))
		|| writes.some(({ deletion, isPermanent }) => deletion !== undefined || isPermanent);
	const work = inSlices({ ...run, identity: { ...run.identity, runKey } }, { description, items, output: {} }, areAlone);
	const answers: Array<IDataObject | Error | undefined> = writes.map(() => undefined);
	for await (const { item, result } of runAll(work, writes.length, mayContinue)) {
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

/** The change as made. */
function asWritten(change: PlannedChange, answer: IDataObject): PlannedChange {
	if (change.action === 'delete') return change;
	const { patch = {}, ...changeWithoutPatch } = change;
	// The version that was read belongs to the previous values.
	const read: IDataObject = withoutMembers<IDataObject, string>(change.record ?? {}, 'version');
	return { ...changeWithoutPatch, record: { ...mergePatch(read, patch), ...answer } as IdentifiedRecord };
}

/** Why a change is reported as a conflict; undefined if it was made, or failed. @param knownIds ids that no created record can have */
function whyConflict({ action }: PlannedChange, answer: IDataObject | Error, knownIds: ReadonlySet<string>): string | undefined {
	if (answer instanceof Error) return refusalReason(answer);
	return action === 'create' && knownIds.has(String(answer.id)) ? notCreated(String(answer.id)) : undefined;
}

/** Why the CRM refused a change that was valid when it was planned; undefined for errors. */
const refusalReason = (error: Error): string | undefined =>
	changedSinceRead(error) ?? (isRefused(error) && isAnsweredWith(error, 409) ? `The CRM refused the change: ${error.message}` : undefined);

/** Why an item may be another record than it seemed to be, by the answer to its change. @param reason why it is a conflict, if it is one */
function doubtAfter({ item, record }: PlannedChange, answer: IDataObject | Error, reason: string | undefined): string | undefined {
	if (item === undefined) return undefined;
	if (!(answer instanceof Error)) {
		return reason && `The CRM’s response to item ${item} has no new record, so the item may be this record. It was left unchanged.`;
	}
	// A record that was changed or deleted meanwhile has no other key.
	if (record && changedSinceRead(answer) !== undefined) return undefined;
	return `Item ${item} could not be written, but may be this record. It was left unchanged.`;
}

const notCreated = (id: string) =>
	`The CRM did not create a record: it returned record ${id}, which already existed and may have been changed. Correct the values by which the two are recognized.`;

/** Why a record is not as it was when a sync or an undo read it; undefined if the error says nothing of the kind. */
export function changedSinceRead(error: Error): string | undefined {
	if (isAnsweredWith(error, outdatedVersion)) return 'The CRM’s record was changed after this run read it. Nothing was overwritten.';
	return isNotFound(error) ? 'The CRM’s record was deleted after this run read it.' : undefined;
}
