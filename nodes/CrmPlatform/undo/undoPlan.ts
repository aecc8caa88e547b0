import type { IDataObject } from 'n8n-workflow';

import { idText } from '../base/json';
import type { Change } from '../changes/merge';
import type { Field } from '../fields/field';
import { eventName, fieldEntries, fieldValue, setField } from '../log/eventFields';
import { entriesAsLeft, type FieldHistory, lastByOthers, movedEntries, withEntriesUndone } from './fieldHistory';
import { explain, type Explanation } from './reasons';
import { type LivingRecreation, livingRecreation } from './recordHistories';
import { allKept, leftAsItIs, type RecordToUndo, type RecordUndo, withCopies, withReason } from './recordUndo';
import { type Substitutes, withSubstitutes } from './recreations';
import type { UndoChoices } from './undoForm';

interface UndoRules extends Pick<UndoChoices, 'takesPrecedence' | 'isSightLimited'> {
	/** Whether the log reports the record as deleted, but it may only be invisible to the credential. */
	isInvisible: boolean;
	/** By the keys of deleted records: the ids of those in their place. */
	newIds: Substitutes;
}

/** Decides what happens to a record: the first case that applies. */
export function planRecord(toUndo: RecordToUndo, rules: UndoRules): RecordUndo {
	const { problem, deletion, current, isCreated } = toUndo.history;
	if (problem) return leftAsItIs(toUndo, problem);
	if (deletion && current) return leftAsItIs(toUndo, explain('existsAgain'));
	if (isCreated) return planCreated(toUndo, rules);
	return deletion ? planDeleted(toUndo, rules) : planChanged(toUndo, rules);
}

/** A record that the changes to undo created is deleted. */
function planCreated(toUndo: RecordToUndo, { takesPrecedence, isSightLimited, isInvisible }: UndoRules): RecordUndo {
	const { current, fieldHistories } = toUndo.history;
	if (!current) {
		const recreation = livingRecreation(toUndo.history);
		if (!recreation || recreation.isToUndo) return leftAsItIs(toUndo, explain(isInvisible ? 'invisible' : 'alreadyGone'));
		return { ...leftAsItIs(toUndo, explain('recreationKept', recreation.id)), newId: recreation.id };
	}
	if (!takesPrecedence) {
		const isChangedSince = [...fieldHistories.values()].some((field) => lastByOthers(field) !== undefined);
		if (isChangedSince) return leftAsItIs(toUndo, explain('changedSince'));
		if (isSightLimited) return leftAsItIs(toUndo, explain('maybeLinked'));
	}
	return { ...toUndo, result: 'undone', changes: [], action: 'delete', record: current };
}

/** A record that the changes to undo deleted is created again, with the values from before them. */
function planDeleted(toUndo: RecordToUndo, rules: UndoRules): RecordUndo {
	const { history, fields } = toUndo;
	const recreation = livingRecreation(history);
	const [gone] = history.recreations;
	if (recreation) return withCopies(planRecreated(toUndo, recreation, rules));
	if (gone) return leftAsItIs(toUndo, explain('goneAgain', gone.id));
	if (rules.isInvisible) return leftAsItIs(toUndo, explain('maybeNotDeleted'));
	if (!fields.canMarkRecreations) return leftAsItIs(toUndo, explain('unmarkable'));
	const { changes } = fields.compare.difference({}, recordBeforeChanges(toUndo, rules));
	return { ...toUndo, result: 'undone', changes: changes.filter(({ field }) => fields.canWrite('create', field)), action: 'create' };
}

/** A record that an undo has created again gets what that undo could not restore. */
function planRecreated(toUndo: RecordToUndo, { id: newId, record, changed }: LivingRecreation, rules: UndoRules): RecordUndo {
	const { history, fields } = toUndo;
	// It was created with the values that others had given the deleted record.
	const ownNames = writableNames(toUndo).filter((name) => !history.fieldHistories.get(name)!.othersSince);
	const differing = allKept(restoringChanges(toUndo, rules, ownNames, record).changes);
	const target = recordBeforeChanges(toUndo, rules);
	for (const [name, value] of fieldEntries(target)) setField(target, name, withSubstitutes(rules.newIds, fields.linkField(name), value));
	const decidedNames = new Set([...ownNames, ...changed]);
	const isLacking = ({ field }: Change) =>
		!decidedNames.has(eventName(field)) && fields.canWrite('create', field) && fields.canWrite('update', field);
	const lacking = fields.compare.difference(record, target).changes.filter(isLacking);
	const undo = { ...toUndo, newId, changes: [...differing, ...lacking] };
	const planned: RecordUndo = lacking.length > 0
		? { ...undo, result: 'undone', action: 'update', record }
		: { ...undo, ...explain('createdAgain', newId) };
	return differing.length > 0 ? withReason(planned, explain('hasOtherValues')) : planned;
}

/**
 * The changed fields of a record get their previous values. Somebody else may have deleted the record: if an undo has
 * created it again, its fields are restored there.
 */
function planChanged(toUndo: RecordToUndo, rules: UndoRules): RecordUndo {
	const { history } = toUndo;
	const recreation = livingRecreation(history);
	const record = history.current ?? recreation?.record;
	if (!record) return leftAsItIs(toUndo, explain(rules.isInvisible ? 'invisible' : 'deletedSince'));
	const recreatedAs = history.current ? {} : { newId: recreation!.id };
	const names = writableNames(toUndo);
	if (names.length === 0 && history.fieldHistories.size > 0) {
		return { ...leftAsItIs(toUndo, explain('setByService', [...history.fieldHistories.keys()].join(', '))), ...recreatedAs };
	}
	const { changes, reasons } = restoringChanges(toUndo, rules, names, record);
	if (changes.length === 0) return { ...leftAsItIs(toUndo, explain('hasValues')), ...recreatedAs };
	const isWritten = changes.some(({ kept }) => !kept);
	const undo: RecordUndo = { ...toUndo, ...recreatedAs, result: 'undone', changes, ...(isWritten && { action: 'update', record }) };
	return reasons.reduce((reported, reason) => withReason(reported, reason), undo);
}

const writableNames = ({ history, fields }: RecordToUndo): string[] =>
	[...history.fieldHistories.keys()].filter((name) => fields.canWrite('update', name));

/** The deleted record with the values from before the changes to undo. Those that others have changed are as it had them last. */
function recordBeforeChanges(toUndo: RecordToUndo, rules: UndoRules): IDataObject {
	const { history, fields } = toUndo;
	const record = { ...history.deletion!.record };
	const names = [...history.fieldHistories.keys()];
	const keptNames = fields.withDependents(names.filter((name) =>
		history.fieldHistories.get(name)!.othersSince !== undefined || isTiedToOthers(toUndo, name)));
	for (const name of names) {
		const { list, target } = restorationOf(toUndo, name, fieldValue(record, name), rules);
		if (list) setField(record, name, list);
		else if (!keptNames.has(name)) setField(record, name, target);
	}
	return record;
}

/**
 * Whether a field is tied to one that others have changed after the first change of it that is to be undone. In a list of
 * links, each entry is judged by itself.
 */
function isTiedToOthers({ history: { fieldHistories }, fields }: RecordToUndo, name: string): boolean {
	if (fields.linkField(name)) return false;
	const since = fieldHistories.get(name)?.firstSequence ?? Infinity;
	const tied = [...fields.withDependents([name])].flatMap((other) => (fields.linkField(other) ? [] : fieldHistories.get(other) ?? []));
	return tied.some((other) => (lastByOthers(other) ?? 0) > since);
}

/**
 * The changes that give a record the values from before the changes to undo. A value that is no longer as these left it
 * belongs to others, and is kept, together with the fields that the CRM changes with it.
 *
 * @returns also why some of them are kept
 */
function restoringChanges(
	toUndo: RecordToUndo, rules: UndoRules, names: string[], record: IDataObject,
): { changes: Change[]; reasons: Explanation[] } {
	const { compare } = toUndo.fields;
	const restorations = new Map(names.map((name) => [name, restorationOf(toUndo, name, fieldValue(record, name) ?? null, rules)]));
	const [left, target]: [IDataObject, IDataObject] = [{}, {}];
	for (const [name, restoration] of restorations) {
		setField(left, name, restoration.left);
		setField(target, name, restoration.target);
	}
	// Of an object, the changes to undo may have changed only some members.
	const wasChanged = ({ field, to }: Change) => !compare.covers(field, fieldValue(left, field), to);
	const changes = compare.difference(record, target).changes.filter(wasChanged);
	if (rules.takesPrecedence) return { changes, reasons: [] };
	const changedNames = new Set(changes.map(({ field }) => eventName(field)));
	const whyKept = whyFieldsAreKept(changedNames, toUndo, restorations);
	const reasons = (['fieldsChangedSince', 'missingInList', 'fieldsTied'] as const).flatMap((why) => {
		const keptFields = changes.flatMap(({ field }) => (whyKept.get(eventName(field)) === why ? [field] : []));
		return keptFields.length > 0 ? [explain(why, keptFields.join(', '))] : [];
	});
	return { changes: changes.map((change): Change => (whyKept.has(eventName(change.field)) ? { ...change, kept: true } : change)), reasons };
}

/** What the undo of a field changes. */
interface Restoration {
	/** The field as the changes to undo left it; a list that others have changed, too, as it is now. */
	left: unknown;
	/** The field as it is to become. */
	target: unknown;
	/** Whether someone else has changed it since, so that it is kept unless the undo takes precedence. */
	isChangedSince: boolean;
	/** A list of links that others have changed, too, with only those entries undone that nobody else has changed. */
	list?: unknown[];
}

/** @param current the value of the field now */
function restorationOf({ history, fields }: RecordToUndo, name: string, current: unknown, rules: UndoRules): Restoration {
	const fieldHistory = history.fieldHistories.get(name)!;
	const link = fields.linkField(name);
	const [before, left, now] = [fieldHistory.before, fieldHistory.after, current].map((value) => withSubstitutes(rules.newIds, link, value));
	const isAsLeft = fields.compare.isSame(name, now, left);
	const isShared = lastByOthers(fieldHistory) !== undefined || !isAsLeft;
	if (link && Array.isArray(now) && isShared) return sharedListRestoration(link, fieldHistory, now, rules);
	return { left, target: before, isChangedSince: fieldHistory.othersSince !== undefined || !isAsLeft };
}

/** Of a list of links that others have changed, too, each entry is undone or kept by itself. */
function sharedListRestoration(
	link: Field, fieldHistory: FieldHistory, now: unknown[], { takesPrecedence, newIds }: UndoRules,
): Restoration {
	const moved = movedEntries(fieldHistory).map((each) => ({ ...each, entry: withSubstitutes(newIds, link, each.entry) }));
	const asLeft = entriesAsLeft(now, moved);
	const restored = asLeft.filter(({ isChangedSince }) => takesPrecedence || !isChangedSince);
	const isChangedSince = restored.length === 0 && asLeft.length > 0;
	const list = withEntriesUndone(now, restored);
	return { left: now, target: isChangedSince ? withEntriesUndone(now, asLeft) : list, isChangedSince, list };
}

type KeptBecause = 'fieldsChangedSince' | 'missingInList' | 'fieldsTied';

/** Why fields keep their values, of those that would change: each for itself, and those that the CRM changes with them. */
function whyFieldsAreKept(
	names: ReadonlySet<string>, toUndo: RecordToUndo, restorations: ReadonlyMap<string, Restoration>,
): Map<string, KeptBecause> {
	const { fields } = toUndo;
	const reasons = new Map<string, KeptBecause>();
	for (const name of names) {
		const { isChangedSince, list, target } = restorations.get(name)!;
		// A field such as the main contact must be an entry of its list, so it cannot return if the list lacks it.
		const isMissing = (other: string) => idText(target) !== undefined && restorations.get(other)?.list?.includes(target) === false;
		if (isChangedSince) reasons.set(name, 'fieldsChangedSince');
		else if (fields.dependentFields(name).some(isMissing)) reasons.set(name, 'missingInList');
		else if (!list && isTiedToOthers(toUndo, name)) reasons.set(name, 'fieldsTied');
	}
	for (const name of fields.withDependents([...reasons.keys()])) {
		// If a list is kept as a whole, it is what others have changed that counts.
		if (!reasons.has(name)) reasons.set(name, restorations.get(name)?.list ? 'fieldsChangedSince' : 'fieldsTied');
	}
	return reasons;
}
