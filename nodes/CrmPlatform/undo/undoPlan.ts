import { withReplacedIds } from '../api/openapi/linkFields';
import type { CurrentRecords } from './currentRecords';
import { duplicateUndos, keptAsLinked } from './duplicateRecreations';
import { linksToDeletedRecords, type RecordHistory } from './recordHistory';
import { isNumericId, linkKey, recordKey, withNewId } from './recordIds';
import { compareStates, recordStateOf } from './recordState';
import { allKept, withoutWrite, type RecordUndo } from './recordUndo';
import { existsAgain, planRecreation, planUpdate, type UndoRules } from './restorePlan';
import type { UndoChoices } from './undoChoices';

/**
 * Decides what to do with each record.
 *
 * @param linkedAfterUndo the ids of created records that other records link to when these undos are done
 */
export function planUndo(
	histories: RecordHistory[],
	knownRules: Omit<UndoRules, 'withNewIds' | 'linksToDeleted'>,
	linkedAfterUndo: (undos: RecordUndo[]) => ReadonlySet<string>,
): RecordUndo[] {
	const { current, takesPrecedence, isSightLimited } = knownRules;
	const rules: UndoRules = { ...knownRules, withNewIds: newIdsIn(histories, current), linksToDeleted: linksToDeletedRecords(histories) };
	const undos = histories.map((history) => unlessNewerThanLog(planRecord(history, rules), takesPrecedence));
	const duplicates = histories.flatMap((history) => {
		const living = history.recreations.filter(({ id }) => current.livingRecord(history.collection, id));
		return duplicateUndos(history, living, takesPrecedence || isSightLimited, ({ id }) => current.livingRecord(history.collection, id)!);
	});
	return withLinkedRecordsKept([...undos, ...duplicates], linkedAfterUndo);
}

/** Keeps created records that other records link to when the undo is done, and then the records that these link to. */
export function withLinkedRecordsKept(undos: RecordUndo[], linkedAfterUndo: (undos: RecordUndo[]) => ReadonlySet<string>): RecordUndo[] {
	const linkedIds = linkedAfterUndo(undos);
	const isStillLinked = ({ action, history }: RecordUndo) => action === 'delete' && linkedIds.has(history.id);
	if (!undos.some(isStillLinked)) return undos;
	return withLinkedRecordsKept(undos.map((undo) => (isStillLinked(undo) ? keptAsLinked(undo) : undo)), linkedAfterUndo);
}

/** Returns a function that replaces the ids of records that were created again. */
function newIdsIn(histories: RecordHistory[], current: CurrentRecords): UndoRules['withNewIds'] {
	const newIds = new Map(histories.flatMap((history): Array<[string, string]> => {
		const recreation = current.livingRecreation(history);
		// A number is an id only in a link to records of its collection.
		return recreation ? [[isNumericId(history.id) ? recordKey(history) : history.id, recreation.id]] : [];
	}));
	const replaceLink = (collection: string, id: unknown) => withNewId(id, newIds.get(linkKey(collection, id)));
	const replaceText = (_: string, member: unknown): unknown => (typeof member === 'string' ? (newIds.get(member) ?? member) : member);
	return (value, linkField) => {
		if (newIds.size === 0) return value ?? null;
		const replaced = linkField ? withReplacedIds(linkField, value, replaceLink) : value;
		return JSON.parse(JSON.stringify(replaced ?? null), replaceText) as unknown;
	};
}

function planRecord(history: RecordHistory, rules: UndoRules): RecordUndo {
	const { current } = rules;
	const { collection, id, isCreated, deletion, problem } = history;
	if (problem !== undefined) return withoutWrite(history, 'cannot_be_undone', problem);
	const record = current.livingRecord(collection, id);
	const state = record && compareStates(recordStateOf(record), history.state);
	if (state === 'older') return withoutWrite(history, 'conflict', outdated);
	if (isCreated) return planDeletion(history, rules);
	if (deletion) return planRecreation(history, rules);
	if (record) return planUpdate(history, rules, record);
	// Somebody else has deleted the record. If an undo has created it again, its fields are restored there.
	const recreation = current.livingRecreation(history);
	if (recreation) return { ...planUpdate(history, rules, recreation.record), newId: recreation.id };
	return withoutWrite(history, 'conflict', isInvisible(history, current) ? invisible : deletedSince);
}

/** Plans the undo of a creation. */
function planDeletion(history: RecordHistory, { current, takesPrecedence, isSightLimited }: UndoRules): RecordUndo {
	const { collection, id, deletion, isChangedByOthers } = history;
	const record = current.livingRecord(collection, id);
	if (!record) {
		const recreation = current.livingRecreation(history);
		if (recreation && !recreation.isToBeUndone) {
			return { ...withoutWrite(history, 'conflict', recreationKept(recreation.id)), newId: recreation.id };
		}
		if (deletion && isChangedByOthers && !takesPrecedence) return withoutWrite(history, 'conflict', deletedWithChanges);
		return isInvisible(history, current) ? withoutWrite(history, 'conflict', invisible) : withoutWrite(history, 'already_so', alreadyGone);
	}
	if (deletion) return withoutWrite(history, 'conflict', existsAgain);
	if (!takesPrecedence) {
		const state = compareStates(recordStateOf(record), history.state);
		if (isChangedByOthers || (state !== 'same' && state !== 'unknown')) return withoutWrite(history, 'conflict', changedSince);
		if (state === 'unknown') return withoutWrite(history, 'conflict', maybeChanged);
		if (isSightLimited) return withoutWrite(history, 'conflict', maybeLinked);
	}
	return { ...withoutWrite(history, 'undone'), action: 'delete', current: record };
}

/** Whether the service would return the record, even if deleted, but does not. */
const isInvisible = ({ collection, id }: RecordHistory, current: CurrentRecords): boolean =>
	!current.record(collection, id) && current.showsDeleted(collection);

/** Keeps a created record that somebody has changed while others were deleted. */
export const keptAsChanged = ({ history }: RecordUndo): RecordUndo => withoutWrite(history, 'conflict', changedSince);

/**
 * Keeps a record that is newer than the log: someone else may have changed it, even if it has the workflow's values
 * again.
 */
function unlessNewerThanLog(undo: RecordUndo, takesPrecedence: boolean): RecordUndo {
	const { action, current, ...rest } = undo;
	const { newest } = rest.history.recreations.find(({ id }) => id === rest.newId) ?? rest.history;
	const isRestored = action === 'update' || (rest.result === 'already_so' && action === undefined);
	const state = current && isRestored && !takesPrecedence ? compareStates(recordStateOf(current), newest) : 'same';
	if (state === 'same' || state === 'unknown') return undo;
	return { ...rest, result: 'conflict', reason: state === 'older' ? outdated : logBehind, changes: allKept(rest.changes) };
}

/**
 * Reports a plan that changes more records than *Maximum Records* allows.
 *
 * @throws Error in the user's words, except in a preview
 */
export function checkMaximum(undos: RecordUndo[], { maximum, isPreview }: UndoChoices, notices: Set<string>): void {
	const count = undos.filter(({ action }) => action).length;
	if (count <= maximum) return;
	const message = `${count} records would change, and Maximum Records allows ${maximum}. To undo them, set Maximum Records to ${count}.`;
	if (!isPreview) throw new Error(`${message} Nothing was written.`);
	notices.add(message);
}

const alreadyGone = 'The record is already gone.';
const recreationKept = (id: string) => `The workflow created this record. It was deleted, and created again as ${id}, which was not deleted.`;
const deletedWithChanges =
	'The workflow created this record, someone else changed it, and the workflow deleted it. It was not created again.';
const changedSince = 'The workflow created this record, and someone else has changed it since. It was not deleted.';
const maybeChanged =
	'The workflow created this record, and the CRM does not show whether someone else has changed it since. It was not deleted.';
const maybeLinked =
	'The workflow created this record, and records that you cannot see may link to it. It was not deleted. To delete it, undo with an API key, or turn on Undo Takes Precedence.';
const deletedSince = 'Someone else has deleted the record since.';
const invisible = 'The CRM does not return this record: it is not visible to the credential, or erased.';
const outdated = 'The CRM returned an earlier version of the record than the one in its log. Run the undo again.';
const logBehind = 'The CRM’s log is behind: the record was changed after the last change in the log. Run the undo again.';
