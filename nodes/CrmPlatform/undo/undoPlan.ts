import type { IDataObject } from 'n8n-workflow';

import { type Change, merge } from '../changes/merge';
import { eventName, fieldValue, setField } from './fieldValues';
import { allKept, livingRecreation, type RecordHistory, type RecordUndo, withEntriesUndone, withoutWrite } from './history';
import { type LiveLinks, recordKey } from './links';
import type { FieldsByCollection, UndoFields } from './undoFields';
import type { UndoChoices } from './undoForm';

export const planUndo = (histories: RecordHistory[], rules: UndoRules): RecordUndo[] => histories.map((history) => planRecord(history, rules));

/** Keeps created records that other records link to when the undo is done, and then the records that these link to. */
export function withLinkedRecordsKept(undos: RecordUndo[], linkedAfterUndo: (undos: RecordUndo[]) => ReadonlySet<string>): RecordUndo[] {
	const linkedIds = linkedAfterUndo(undos);
	const isStillLinked = ({ action, history }: RecordUndo) => action === 'delete' && linkedIds.has(history.id);
	if (!undos.some(isStillLinked)) return undos;
	return withLinkedRecordsKept(undos.map((undo) => (isStillLinked(undo) ? keptAsLinked(undo) : undo)), linkedAfterUndo);
}

function planRecord(history: RecordHistory, rules: UndoRules): RecordUndo {
	const { current, isCreated, deletion, problem } = history;
	if (problem !== undefined) return withoutWrite(history, 'cannot_be_undone', problem);
	if (isCreated) return planDeletion(history, rules);
	if (deletion) return planRecreation(history, rules);
	if (current) return planUpdate(history, rules, current);
	// Somebody else has deleted the record. If an undo has created it again, its fields are restored there.
	const recreation = livingRecreation(history);
	if (recreation) return { ...planUpdate(history, rules, recreation.record), newId: recreation.id };
	return withoutWrite(history, 'conflict', rules.invisible.has(recordKey(history)) ? invisible : deletedSince);
}

function planDeletion(history: RecordHistory, { invisible: invisibleRecords, takesPrecedence, isSightLimited }: UndoRules): RecordUndo {
	const { current, deletion } = history;
	const isChangedByOthers = history.changedByOthers.size > 0;
	if (!current) {
		const recreation = livingRecreation(history);
		if (recreation && !recreation.isToBeUndone) {
			return { ...withoutWrite(history, 'conflict', recreationKept(recreation.id)), newId: recreation.id };
		}
		if (deletion && isChangedByOthers && !takesPrecedence) return withoutWrite(history, 'conflict', deletedWithChanges);
		if (invisibleRecords.has(recordKey(history))) return withoutWrite(history, 'conflict', invisible);
		return withoutWrite(history, 'already_so', alreadyGone);
	}
	if (deletion) return withoutWrite(history, 'conflict', existsAgain);
	if (isChangedByOthers && !takesPrecedence) return withoutWrite(history, 'conflict', changedSince);
	if (isSightLimited && !takesPrecedence) return withoutWrite(history, 'conflict', maybeLinked);
	return { ...withoutWrite(history, 'undone'), action: 'delete', current };
}

/** Keeps a created record that somebody has changed while others were deleted. */
export const keptAsChanged = ({ history }: RecordUndo): RecordUndo => withoutWrite(history, 'conflict', changedSince);

const alreadyGone = 'The record is already gone.';
const recreationKept = (id: string) => `The workflow created this record. It was deleted, and created again as ${id}, which was not deleted.`;
const deletedWithChanges =
	'The workflow created this record, someone else changed it, and the workflow deleted it. It was not created again.';
const changedSince = 'The workflow created this record, and someone else has changed it since. It was not deleted.';
const maybeLinked =
	'The workflow created this record, and records that you cannot see may link to it. It was not deleted. To delete it, undo with an API key, or turn on Undo Takes Precedence.';
const deletedSince = 'Someone else has deleted the record since.';
const invisible = 'The CRM does not return this record: it is not visible to the credential, or erased.';

interface UndoRules extends Pick<UndoChoices, 'takesPrecedence' | 'isSightLimited'> {
	/** The keys of the records that the log reports as deleted, but that may only be invisible to the credential. */
	invisible: ReadonlySet<string>;
	writableFields: FieldsByCollection;
	links: LiveLinks;
}

function planRecreation(history: RecordHistory, rules: UndoRules): RecordUndo {
	const { collection, current, recreations: [firstRecreation] } = history;
	const writable = rules.writableFields.get(collection)!;
	if (current) return withoutWrite(history, 'conflict', existsAgain);
	if (firstRecreation) {
		const recreation = livingRecreation(history);
		if (!recreation) return withoutWrite(history, 'conflict', recreationGone(firstRecreation.id));
		// It was created with the values that others had given the deleted record.
		const names = [...history.fields].flatMap(([name, field]) => (field.isChangedByOthers || !writable.canUpdate(name) ? [] : [name]));
		const changes = allKept(restoringChanges(history, rules, names, recreation.record));
		const copies = history.recreations.filter(({ id, record }) => id !== recreation.id && record);
		const reason = [createdAgain(recreation.id), changes.length > 0 && hasOtherValues, ...copies.map((copy) => createdTwice(copy.id))];
		const result = changes.length > 0 ? 'conflict' : 'already_so';
		return { ...withoutWrite(history, result, reason.filter(Boolean).join(' ')), changes, newId: recreation.id };
	}
	if (rules.invisible.has(recordKey(history))) return withoutWrite(history, 'cannot_be_undone', maybeNotDeleted);
	if (!writable.canMarkRecreations) return withoutWrite(history, 'cannot_be_undone', recreationUnmarkable);
	const { changes } = writable.compare.difference({}, recordBeforeChanges(history, writable, rules));
	return { ...withoutWrite(history, 'undone'), changes: changes.filter(({ field }) => writable.canCreate(field)), action: 'create' };
}

/** Returns the deleted record with the values from before the workflow's changes. */
function recordBeforeChanges(history: RecordHistory, writable: UndoFields, { takesPrecedence }: UndoRules): IDataObject {
	const record = { ...history.deletion!.record };
	const othersFields = writable.withDependents(fieldsOfOthers(history, writable));
	for (const [name, field] of history.fields) {
		const deletedValue = fieldValue(record, name);
		if (writable.linkField(name) && Array.isArray(deletedValue) && field.othersSequence !== undefined) {
			setField(record, name, withEntriesUndone(deletedValue, field, (value) => value, takesPrecedence).list);
		} else if (!othersFields.has(name)) setField(record, name, field.before);
	}
	return record;
}

/**
 * Finds the fields that belong to others: those that they have changed since, and those tied to a field that they have
 * changed after the workflow's first change. In a list of links, each entry is judged by itself.
 */
function fieldsOfOthers({ fields }: RecordHistory, writable: UndoFields): string[] {
	const isTiedToOthers = (name: string, since: number) =>
		!writable.linkField(name) &&
		[...writable.withDependents([name])].some((other) => !writable.linkField(other) && (fields.get(other)?.othersSequence ?? 0) > since);
	return [...fields].flatMap(([name, { isChangedByOthers, firstSequence }]) =>
		isChangedByOthers || isTiedToOthers(name, firstSequence) ? [name] : [],
	);
}

function planUpdate(history: RecordHistory, rules: UndoRules, record: IDataObject): RecordUndo {
	const writable = rules.writableFields.get(history.collection)!;
	const names = [...history.fields.keys()];
	// An undo has created the record in place of another, and nobody has changed it since.
	if (names.length === 0) return withoutWrite(history, 'already_so', hasValues);
	if (!names.some(writable.canUpdate)) return withoutWrite(history, 'cannot_be_undone', setByService(names));
	const changes = restoringChanges(history, rules, names.filter(writable.canUpdate), record);
	if (changes.length === 0) return withoutWrite(history, 'already_so', hasValues);
	const isKept = changes.some(({ kept }) => kept);
	const isWritten = changes.some(({ kept }) => !kept);
	const undo = withoutWrite(history, isKept ? 'conflict' : 'undone', isKept ? fieldsChangedSince : undefined);
	return { ...undo, changes, ...(isWritten && { action: 'update', current: record }) };
}

/**
 * Merges the values from before the workflow's changes into a record. Their base are the values that the workflow left:
 * a field that now has another one belongs to others. Fields that the CRM changes together are kept together. Entries of
 * lists of links that others have changed, too, are undone one by one.
 */
function restoringChanges(
	history: RecordHistory,
	{ takesPrecedence, links, writableFields }: UndoRules,
	names: string[],
	record: IDataObject,
): Change[] {
	const writable = writableFields.get(history.collection)!;
	const { compare } = writable;
	const othersFields = fieldsOfOthers(history, writable);
	const [base, left, target]: IDataObject[] = [{}, {}, {}];
	const undoneLists = new Map<string, unknown[]>();
	for (const name of names) {
		const values = history.fields.get(name)!;
		const linkField = writable.linkField(name);
		const replaceIds = (value: unknown) => links.withNewIds(value, linkField);
		const [from, after] = [fieldValue(record, name) ?? null, replaceIds(values.after)];
		const isOthers = othersFields.includes(name);
		const isShared = values.othersSequence !== undefined || isOthers || !writable.isSame(name, from, after);
		if (isShared && linkField && Array.isArray(from)) {
			const { list, hasKeptEntries } = withEntriesUndone(from, values, replaceIds, takesPrecedence);
			undoneLists.set(name, list);
			// Others have since decided about all entries that the workflow has changed. After an undo of later changes, an entry
			// may be there under the new ID of its record.
			const isKept = values.isUndoneByOthers ? values.entries.some(({ isChangedByOthers }) => isChangedByOthers) : hasKeptEntries && writable.isSame(name, from, list);
			setField(target!, name, isKept ? withEntriesUndone(from, values, replaceIds, true).list : list);
			setField(left!, name, from);
			if (!isKept) setField(base!, name, from);
		} else {
			setField(target!, name, replaceIds(values.before));
			setField(left!, name, after);
			if (!isOthers) setField(base!, name, after);
		}
	}
	const changedFields = new Set(compare.difference(left!, target!).changes.map(({ field }) => field));
	const merged = merge(compare, { base, target: target!, current: record }, () => (takesPrecedence ? 'target' : 'current'))!;
	const changes = merged.changes.filter(({ field }) => changedFields.has(field));
	if (takesPrecedence) return changes;
	// A field such as the main contact must be an entry of its list, so it cannot return if the list lacks it.
	const isMissingInList = ({ field, to }: Change) =>
		isId(to) && writable.dependentFields(field).some((list) => undoneLists.get(list)?.includes(to) === false);
	const keptFields = changes.flatMap((change) => (change.kept || isMissingInList(change) ? [eventName(change.field)] : []));
	const tiedFields = writable.withDependents(keptFields);
	return changes.map((change) => (tiedFields.has(change.field) || isMissingInList(change) ? { ...change, kept: true } : change));
}

const isId = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

const hasValues = 'The record already has its previous values.';
const createdAgain = (id: string) => `It was created again as ${id}.`;
const hasOtherValues = 'Its values differ from those before the changes, and were kept.';
const recreationGone = (id: string) => `It was created again as ${id}, which has been deleted since.`;
const existsAgain = 'The record was deleted, but exists again.';
const fieldsChangedSince =
	'Someone else has since changed these fields, or fields that the CRM changes with them. The current values were kept.';
const maybeNotDeleted = 'The CRM does not show that the record was deleted: it may only be invisible to the credential.';
const recreationUnmarkable =
	'The CRM’s idempotency keys have no room to mark a re-created record, so a second undo would create it twice.';
const setByService = (names: string[]) => `Only fields that the CRM sets were changed: ${names.join(', ')}.`;

/** Keeps a created record that other records link to. */
export const keptAsLinked = ({ history }: RecordUndo): RecordUndo => withoutWrite(history, 'conflict', linkedSince);

export const createdTwice = (id: string) => `Another undo created it too, as ${id}. Merge the two.`;
const linkedSince = 'The workflow created this record, and it is still linked from other records. It was not deleted.';
