import type { IDataObject } from 'n8n-workflow';

import { canonicalText, hasSameValue } from '../base/json';
import { causeOf } from '../log/cause';
import type { CrmEvent, EventMeaning } from '../log/crmEvent';
import { fieldValue } from '../log/eventFields';
import type { Explanation } from './reasons';

/** Identifies a record among the records of all types. */
export const recordKey = ({ collection, id }: { collection: string; id: string }): string => `${collection}/${id}`;

/** A record that an undo has created in place of a deleted one. */
export interface Recreation {
	id: string;
	/** The fields that have changed since. */
	changed: Set<string>;
	/** The record after its last event, whoever caused it; absent if it was deleted. */
	record?: IDataObject | undefined;
	/** Whether its creation is to be undone, too. */
	isToUndo: boolean;
}

export interface RecordHistory extends Pick<EventMeaning, 'recordType' | 'collection' | 'template'> {
	id: string;
	name?: string | undefined;
	/** Whether its creation is to be undone. */
	isCreated: boolean;
	/** The fields that the changes to undo have changed; of a created record, also those that others have changed since. */
	fieldHistories: Map<string, FieldHistory>;
	deletion?: { event: string; record: IDataObject };
	/** The records that undos have created in its place, the earliest first. */
	recreations: Recreation[];
	/** The record after its last event, whoever caused it: at least its version and these fields. Absent if it was deleted. */
	current?: IDataObject | undefined;
	/** Why it cannot be undone. */
	problem?: Explanation;
}

export type LivingRecreation = Recreation & { record: IDataObject };

/** The existing record that an undo, whoever ran it, has created in place of a deleted one. */
export const livingRecreation = ({ recreations }: RecordHistory) =>
	recreations.find((recreation): recreation is LivingRecreation => recreation.record !== undefined);

/** What the changes of one field amount to, by the name that events give it. */
export interface FieldHistory {
	/** The value before the changes to undo; before the last of them, if someone else has changed the field in between. */
	before: unknown;
	/** The value after the changes to undo. */
	after: unknown;
	/** Sequence of the change that replaced `before`. */
	firstSequence: number;
	/** Sequence of the last change by someone else before that; for one that the credential does not see, of the change after it. */
	othersBefore: number | undefined;
	/** Sequence of the last change by someone else since, unless an undo has taken it back. */
	othersSince?: number | undefined;
	/** For a list: its entries that the changes to undo have moved, each with the history of whether the list contains it. */
	entries: ReadonlyMap<string, { entry: unknown; moves: FieldHistory }>;
}

/** Sequence of the last change of a field by someone else since the first change to undo. */
export const lastByOthers = ({ othersBefore, othersSince }: FieldHistory): number | undefined => othersSince ?? othersBefore;

interface FieldChange {
	isToUndo: boolean;
	/** Whether it was itself an undo. */
	isUndo: boolean;
	sequence: number;
	before: unknown;
	after: unknown;
}

/** The value of a field, in which links to records that undos have created name those in whose place they are. */
export type OriginalValue = (field: string, value: unknown) => unknown;

/** Adds to the history of a record what an event has done to its fields. Only what follows a change to undo counts. */
export function addFieldChanges(
	{ fieldHistories, isCreated }: RecordHistory, event: CrmEvent, isToUndo: boolean, original: OriginalValue,
): void {
	const { sequence, data: { object, previous, changed } } = event;
	const isUndo = causeOf(event).origin?.purpose === 'undo';
	for (const name of changed) {
		const [before, after] = [previous ?? {}, object].map((values) => original(name, fieldValue(values, name)));
		// The creation of a record gave its fields their first values.
		const creation = { isToUndo: true, isUndo: false, sequence: 0, before: null, after: before };
		const soFar = fieldHistories.get(name) ?? (isCreated ? afterChange(undefined, creation) : undefined);
		const history = afterChange(soFar, { isToUndo, isUndo, sequence, before, after });
		if (history) fieldHistories.set(name, history);
	}
}

/** The history of a field after a further change; undefined as long as none is to be undone. */
function afterChange(history: FieldHistory | undefined, change: FieldChange): FieldHistory | undefined {
	const { isToUndo, isUndo, sequence, before, after } = change;
	const entries = entriesAfter(history?.entries, change);
	if (isToUndo) {
		const isContinued = history && !history.othersSince && hasSameValue(history.after, before);
		if (isContinued) return { ...history, entries, after };
		return { before, after, entries, firstSequence: sequence, othersBefore: history && (history.othersSince ?? sequence) };
	}
	if (!history) return undefined;
	// An undo that restores what the changes to undo have left takes back what others have changed since.
	const isTakenBack = isUndo && hasSameValue(after, history.after);
	return { ...history, entries, othersSince: isTakenBack ? undefined : sequence };
}

const noEntries: FieldHistory['entries'] = new Map();

/** In a list, each entry is like a field whose value is whether the list contains it. */
function entriesAfter(histories = noEntries, change: FieldChange): FieldHistory['entries'] {
	if (!Array.isArray(change.before) && !Array.isArray(change.after)) return histories;
	const [before, after] = [entriesByKey(change.before), entriesByKey(change.after)];
	const next = new Map(histories);
	for (const [key, entry] of new Map([...before, ...after])) {
		if (before.has(key) === after.has(key)) continue;
		const moves = afterChange(histories.get(key)?.moves, { ...change, before: before.has(key), after: after.has(key) });
		if (moves) next.set(key, { entry, moves });
	}
	return next;
}

const entriesByKey = (list: unknown): Map<string, unknown> =>
	new Map((Array.isArray(list) ? list : []).map((entry) => [canonicalText(entry), entry]));

interface EntryUndo {
	entry: unknown;
	/** Whether the list contained it after the changes to undo; before them, it was the other way round. */
	isIn: boolean;
	/** Whether someone else has removed it or added it again since. */
	isChangedSince: boolean;
}

/** The entries of a list that the changes to undo have added or removed. */
export const movedEntries = ({ entries }: FieldHistory): EntryUndo[] =>
	[...entries.values()].flatMap(({ entry, moves: { before, after, othersSince } }) =>
		(before === after ? [] : [{ entry, isIn: after === true, isChangedSince: othersSince !== undefined }]));

/** Those of the moved entries that are still as they were left: the added ones are there, the removed ones are not. */
export function entriesAsLeft(list: unknown[], moved: EntryUndo[]): EntryUndo[] {
	const keys = new Set(list.map(canonicalText));
	return moved.filter(({ entry, isIn }) => keys.has(canonicalText(entry)) === isIn);
}

/** A list without those of the entries that the changes to undo have added, and with those that they have removed. */
export function withEntriesUndone(list: unknown[], entries: EntryUndo[]): unknown[] {
	const addedKeys = new Set(entries.flatMap(({ isIn, entry }) => (isIn ? [canonicalText(entry)] : [])));
	return [...list.filter((entry) => !addedKeys.has(canonicalText(entry))), ...entries.flatMap(({ isIn, entry }) => (isIn ? [] : [entry]))];
}
