import type { IDataObject } from 'n8n-workflow';

import { canonicalText, hasSameValue } from '../base/json';
import { causeOf } from '../log/cause';
import type { CrmEvent, EventMeaning } from '../log/crmEvent';
import { fieldValue } from '../log/eventFields';
import type { Explanation } from './reasons';

/** A record that an undo has created in place of a deleted one. */
export interface Recreation {
	id: string;
	/** The fields that have changed since. */
	changed: Set<string>;
	/** The record after its last event, whoever caused it; absent if it was deleted. */
	record?: IDataObject | undefined;
	/** Whether its creation is to be undone, too. */
	isToBeUndone: boolean;
}

export interface RecordHistory extends Pick<EventMeaning, 'recordType' | 'collection' | 'template'> {
	id: string;
	name?: string | undefined;
	/** Whether its creation is to be undone. */
	isCreated: boolean;
	/** The changes of the fields that the changes to undo have changed, by the names that events give the fields. */
	changes: Map<string, FieldChange[]>;
	/** What these changes amount to, once the log was read. */
	fieldHistories: Map<string, FieldHistory>;
	deletion?: { event: string; record: IDataObject };
	/** The records that undos have created in its place, the earliest first. */
	recreations: Recreation[];
	/** The record after its last event, whoever caused it: at least its version and the fields in `changes`. Absent if it was deleted. */
	current?: IDataObject | undefined;
	/** The fields that others have changed since the first change to undo, with their values before. */
	changedByOthers: Map<string, unknown>;
	/** Why it cannot be undone. */
	problem?: Explanation;
}

export type LivingRecreation = Recreation & { record: IDataObject };

/** The existing record that an undo, whoever ran it, has created in place of a deleted one. */
export const livingRecreation = ({ recreations }: RecordHistory) =>
	recreations.find((recreation): recreation is LivingRecreation => recreation.record !== undefined);

/** Adds what someone else has done to a record. What an undo takes back, of what others have changed before, is as if it had not been. */
export function addChangeByOthers({ changes, changedByOthers }: RecordHistory, event: CrmEvent, change: EventMeaning['change']): void {
	const { changed } = event.data;
	const isUndo = causeOf(event).origin?.purpose === 'undo';
	for (const name of changed) changes.get(name)?.push({ ...fieldChange(event, name), isUndo });
	if (change === 'deleted') return;
	// An event that names no field changes the record as a whole.
	for (const name of changed.length > 0 ? changed : ['']) {
		const { before, after } = fieldChange(event, name);
		const isTakenBack = isUndo && changedByOthers.has(name) && hasSameValue(changedByOthers.get(name), after);
		if (isTakenBack) changedByOthers.delete(name);
		else if (!changedByOthers.has(name)) changedByOthers.set(name, before);
	}
}

interface FieldChange {
	sequence: number;
	before: unknown;
	after: unknown;
	isToBeUndone?: boolean;
	/** Whether an undo of other changes has made it. */
	isUndo?: boolean;
}

export const fieldChange = ({ sequence, data: { object, previous } }: CrmEvent, name: string): FieldChange =>
	({ sequence, before: fieldValue(previous ?? {}, name) ?? null, after: fieldValue(object, name) ?? null });

/** What the changes of one field amount to. */
export interface FieldHistory {
	/** The value before the changes to undo; before the last of them, if someone else has changed the field in between. */
	before: unknown;
	/** The value after the changes to undo. */
	after: unknown;
	/** Sequence of the change that replaced `before`. */
	firstSequence: number;
	/** Sequence of the last change by someone else, if there is one; for one that the credential does not see, of the change after it. */
	othersSequence: number | undefined;
	/** Whether someone else has changed it since. */
	isChangedByOthers: boolean;
	/** Whether that change was an undo. */
	isUndoneByOthers: boolean;
	/** For a list: its entries that the changes to undo have added or removed. */
	entries: EntryHistory[];
}

interface EntryHistory {
	entry: unknown;
	/** Whether the list contained it after the changes to undo; before them, it was the other way round. */
	isIn: boolean;
	/** Whether someone else has removed it or added it again since. */
	isChangedByOthers: boolean;
}

/** What the changes of a field amount to, of which at least one is to be undone. */
export function replay(changes: FieldChange[]): FieldHistory {
	/** What the changes to undo amount to so far, since someone else changed the field in between. */
	let undoable: Pick<FieldHistory, 'before' | 'after' | 'firstSequence' | 'othersSequence'> | undefined;
	/** The last change by someone else since. */
	let others: FieldChange | undefined;
	for (const change of changes) {
		const { before, after, sequence, isToBeUndone = false, isUndo = false } = change;
		if (isToBeUndone) {
			const isContinued = undoable && !others && hasSameValue(undoable.after, before);
			const othersSequence = undoable && (others?.sequence ?? sequence);
			undoable = isContinued ? { ...undoable!, after } : { before, after, firstSequence: sequence, othersSequence };
			others = undefined;
		} else if (undoable) {
			// An undo that restores what the changes to undo have left takes back what others have changed since.
			others = isUndo && hasSameValue(after, undoable.after) ? undefined : change;
		}
	}
	return {
		...undoable!,
		othersSequence: others?.sequence ?? undoable!.othersSequence,
		isChangedByOthers: others !== undefined,
		isUndoneByOthers: others?.isUndo === true,
		entries: replayedEntries(changes),
	};
}

/** In a list, each entry is replayed like a field whose value is whether the list contains it. */
function replayedEntries(changes: FieldChange[]): EntryHistory[] {
	if (!changes.some(({ before, after }) => Array.isArray(before) || Array.isArray(after))) return [];
	const ofLists = changes.map((change) => ({ ...change, before: entriesByKey(change.before), after: entriesByKey(change.after) }));
	const entries = new Map(ofLists.flatMap(({ isToBeUndone, before, after }) => (isToBeUndone ? [...before, ...after] : [])));
	return [...entries].flatMap(([key, entry]): EntryHistory[] => {
		const moves = ofLists.map((change): FieldChange => ({ ...change, before: change.before.has(key), after: change.after.has(key) }))
			.filter(({ before, after }) => before !== after);
		if (!moves.some(({ isToBeUndone }) => isToBeUndone)) return [];
		const { before, after, isChangedByOthers } = replay(moves);
		return before === after ? [] : [{ entry, isIn: after === true, isChangedByOthers }];
	});
}

const entriesByKey = (list: unknown): Map<string, unknown> =>
	new Map((Array.isArray(list) ? list : []).map((entry) => [canonicalText(entry), entry]));

/**
 * The entries of a list that are still as the workflow left them: those that it added are there, those that it removed are not.
 *
 * @param withNewIds replaces the ids of records that were created again
 */
export function entriesAsLeft(list: unknown[], { entries }: FieldHistory, withNewIds: (value: unknown) => unknown): EntryHistory[] {
	const keys = new Set(list.map(canonicalText));
	const current = entries.map((changed) => ({ ...changed, entry: withNewIds(changed.entry) }));
	return current.filter(({ entry, isIn }) => keys.has(canonicalText(entry)) === isIn);
}

/** A list without those of the entries that the workflow has added, and with those that it has removed. */
export function withEntriesUndone(list: unknown[], entries: EntryHistory[]): unknown[] {
	const addedKeys = new Set(entries.flatMap(({ isIn, entry }) => (isIn ? [canonicalText(entry)] : [])));
	return [...list.filter((entry) => !addedKeys.has(canonicalText(entry))), ...entries.flatMap(({ isIn, entry }) => (isIn ? [] : [entry]))];
}
