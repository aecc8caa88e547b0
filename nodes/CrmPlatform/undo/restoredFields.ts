import type { IDataObject } from 'n8n-workflow';

import { patchReplacing } from '../api/record';
import { canonicalText, idText } from '../base/json';
import type { FieldChange } from '../changes/plan';
import type { Field } from '../fields/field';
import { eventName, fieldValue, setField } from '../log/eventFields';
import { type FieldHistory, lastByOthers } from './fieldHistory';
import { explain, type Explanation } from './reasons';
import type { RecordToUndo, UndoRules } from './recordUndo';
import { withSubstitutes } from './recreations';

/** Why a field keeps its value, in the order in which outputs say it. */
const keepingReasons = ['fieldsChangedSince', 'missingInList', 'fieldsTied'] as const;
type KeptBecause = (typeof keepingReasons)[number];

/**
 * The changes that give a record the values from before the changes to undo. A value that is no longer as these made it
 * belongs to others, and is kept, together with the fields that the CRM changes with it.
 *
 * @returns also why some of them are kept
 */
export function restoringChanges(
	toUndo: RecordToUndo, rules: UndoRules, names: string[], record: IDataObject,
): { changes: FieldChange[]; reasons: Explanation[] } {
	const { compare } = toUndo.fields;
	const restorations = new Map(names.map((name) => [name, restorationOf(toUndo, name, fieldValue(record, name) ?? null, rules)]));
	const [asChanged, target]: [IDataObject, IDataObject] = [{}, {}];
	for (const [name, restoration] of restorations) {
		setField(asChanged, name, restoration.asChanged);
		setField(target, name, patchReplacing(fieldValue(record, name), restoration.target));
	}
	// Of an object, the changes to undo may have changed only some members.
	const wasChanged = ({ field, to }: FieldChange) => !compare.isSame(field, fieldValue(asChanged, field), to);
	const changes = compare.difference(record, target).changes.filter(wasChanged);
	const whyKept = rules.takesPrecedence ? new Map<string, KeptBecause>() : whyFieldsAreKept(changes, toUndo, restorations);
	const reasons = keepingReasons.flatMap((why) => {
		const keptFields = changes.flatMap(({ field }) => (whyKept.get(eventName(field)) === why ? [field] : []));
		return keptFields.length > 0 ? [explain(why, keptFields.join(', '))] : [];
	});
	return { changes: changes.map((change): FieldChange => (whyKept.has(eventName(change.field)) ? { ...change, kept: true } : change)), reasons };
}

/** What the undo of a field changes. */
interface Restoration {
	/** The field after the changes to undo; a list that others have changed, too, as it is now. */
	asChanged: unknown;
	/** The field as it is to become. */
	target: unknown;
	/** Whether someone else has changed it since, so that it is kept unless the undo takes precedence. */
	isChangedSince: boolean;
	/** A list of links that others have changed, too, with only those entries undone that nobody else has changed. */
	sharedList?: unknown[];
}

/** @param current the value of the field now */
function restorationOf({ history, fields }: RecordToUndo, name: string, current: unknown, rules: UndoRules): Restoration {
	const fieldHistory = history.fieldHistories.get(name)!;
	const link = fields.linkField(name);
	const [before, asChanged, now] = [fieldHistory.before, fieldHistory.after, current].map((value) => withSubstitutes(rules.newIds, link, value));
	const isAsChanged = fields.compare.isSame(name, now, asChanged);
	const isShared = lastByOthers(fieldHistory) !== undefined || !isAsChanged;
	if (link && Array.isArray(now) && isShared) return sharedListRestoration(link, fieldHistory, now, rules);
	return { asChanged, target: before, isChangedSince: fieldHistory.othersSince !== undefined || !isAsChanged };
}

/** Of a list of links that others have changed, too, each entry is undone or kept by itself. */
function sharedListRestoration(link: Field, fieldHistory: FieldHistory, now: unknown[], { takesPrecedence, newIds }: UndoRules): Restoration {
	const moved = movedEntries(fieldHistory).map((each) => ({ ...each, entry: withSubstitutes(newIds, link, each.entry) }));
	const entries = entriesAsChanged(now, moved);
	const restored = entries.filter(({ isChangedSince }) => takesPrecedence || !isChangedSince);
	const isChangedSince = restored.length === 0 && entries.length > 0;
	const sharedList = withEntriesUndone(now, restored);
	return { asChanged: now, target: isChangedSince ? withEntriesUndone(now, entries) : sharedList, isChangedSince, sharedList };
}

interface EntryUndo {
	entry: unknown;
	/** Whether the list contained it after the changes to undo; before them, it was the other way round. */
	isIn: boolean;
	/** Whether someone else has removed it or added it again since. */
	isChangedSince: boolean;
}

/** The entries of a list that the changes to undo have added or removed. */
const movedEntries = ({ entries }: FieldHistory): EntryUndo[] =>
	[...entries.values()].flatMap(({ entry, moves: { before, after, othersSince } }) =>
		(before === after ? [] : [{ entry, isIn: after === true, isChangedSince: othersSince !== undefined }]));

/** Those of the moved entries that are still as the changes to undo made them: the added ones are there, the removed ones are not. */
function entriesAsChanged(list: unknown[], moved: EntryUndo[]): EntryUndo[] {
	const keys = new Set(list.map(canonicalText));
	return moved.filter(({ entry, isIn }) => keys.has(canonicalText(entry)) === isIn);
}

/** A list without those of the entries that the changes to undo have added, and with those that they have removed. */
function withEntriesUndone(list: unknown[], entries: EntryUndo[]): unknown[] {
	const addedKeys = new Set(entries.flatMap(({ isIn, entry }) => (isIn ? [canonicalText(entry)] : [])));
	return [...list.filter((entry) => !addedKeys.has(canonicalText(entry))), ...entries.flatMap(({ isIn, entry }) => (isIn ? [] : [entry]))];
}

/** Why fields keep their values, of those that would change: each for itself, and those that the CRM changes with them. */
function whyFieldsAreKept(changes: FieldChange[], toUndo: RecordToUndo, restorations: ReadonlyMap<string, Restoration>): Map<string, KeptBecause> {
	const { fields } = toUndo;
	const reasons = new Map<string, KeptBecause>();
	for (const name of new Set(changes.map(({ field }) => eventName(field)))) {
		const { isChangedSince, sharedList, target } = restorations.get(name)!;
		// A field such as the main contact must be an entry of its list, so it cannot return if the list lacks it.
		const isMissing = (other: string) => idText(target) !== undefined && restorations.get(other)?.sharedList?.includes(target) === false;
		if (isChangedSince) reasons.set(name, 'fieldsChangedSince');
		else if (fields.dependentFields(name).some(isMissing)) reasons.set(name, 'missingInList');
		else if (!sharedList && isTiedToOthers(toUndo, name)) reasons.set(name, 'fieldsTied');
	}
	for (const name of fields.withDependents([...reasons.keys()])) {
		// If a list is kept as a whole, it is what others have changed that counts.
		if (!reasons.has(name)) reasons.set(name, restorations.get(name)?.sharedList ? 'fieldsChangedSince' : 'fieldsTied');
	}
	return reasons;
}

/**
 * Whether others have changed, after the first change of a field that is to be undone, another one that the CRM changes with
 * it. In a list of links, each entry is judged by itself.
 */
function isTiedToOthers({ history: { fieldHistories }, fields }: RecordToUndo, name: string): boolean {
	if (fields.linkField(name)) return false;
	const since = fieldHistories.get(name)?.firstSequence ?? Infinity;
	const tied = [...fields.withDependents([name])].flatMap((other) => (fields.linkField(other) ? [] : fieldHistories.get(other) ?? []));
	return tied.some((other) => (lastByOthers(other) ?? 0) > since);
}

/** The deleted record with the values from before the changes to undo. Those that others have changed are as it had them last. */
export function recordBeforeChanges(toUndo: RecordToUndo, rules: UndoRules): IDataObject {
	const { history, fields } = toUndo;
	const record = { ...history.deletion!.record };
	const names = [...history.fieldHistories.keys()];
	const keptNames = fields.withDependents(names.filter((name) =>
		history.fieldHistories.get(name)!.othersSince !== undefined || isTiedToOthers(toUndo, name)));
	for (const name of names) {
		const { sharedList, target } = restorationOf(toUndo, name, fieldValue(record, name), rules);
		if (sharedList) setField(record, name, sharedList);
		else if (!keptNames.has(name)) setField(record, name, target);
	}
	return record;
}
