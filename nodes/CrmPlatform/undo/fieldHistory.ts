import { canonicalText, hasSameValue } from './sameValue';

/** The changes of one field. */
export interface FieldHistory {
	/** The value before the changes to undo; before the last of them, if someone else has changed the field in between. */
	before: unknown;
	/** The value after the changes to undo. */
	after: unknown;
	/** Whether someone else has changed it since. */
	isChangedByOthers: boolean;
	/** Sequence of the change that replaced `before`. */
	firstSequence: number;
	/** Sequence of the last change by someone else, if there is one. */
	othersSequence?: number;
	/** Whether the last change cleared a custom field, and the service leaves out empty ones. */
	isOmitted?: boolean;
	/** The entries of a list that the changes to undo have added or removed. */
	entries?: Map<string, EntryHistory>;
}

/** The changes of one entry of a list. */
interface EntryHistory {
	entry: unknown;
	/** Whether the list contained it before the changes to undo. */
	wasIn: boolean;
	/** Whether the list contained it after the changes to undo. */
	isIn: boolean;
	/** Whether someone else has removed it or added it again since. */
	isChangedByOthers: boolean;
}

/** A value before and after a change. */
export interface ValueChange {
	before: unknown;
	after: unknown;
}

/** Appends a change to undo to the history of a field. */
export function withChangeToUndo(fieldHistory: FieldHistory | undefined, sequence: number, change: ValueChange): FieldHistory {
	const { before, after } = change;
	const entries = entriesAfter(fieldHistory?.entries, change);
	// If nothing changed in between, this change continues the previous one.
	const isSeamless = fieldHistory !== undefined && hasSameValue(fieldHistory.after, before);
	if (isSeamless && !fieldHistory.isChangedByOthers) return Object.assign(fieldHistory, { after, ...(entries && { entries }) });
	const othersSequence = fieldHistory && (fieldHistory.isChangedByOthers ? fieldHistory.othersSequence : sequence - 0.5);
	return {
		before,
		after,
		isChangedByOthers: false,
		firstSequence: sequence,
		...(othersSequence !== undefined && { othersSequence }),
		...(entries && { entries }),
	};
}

/** Notes that someone else has changed a field. @param change absent if the log does not have the values */
export function noteChangeByOthers(field: FieldHistory, sequence: number, change: ValueChange | undefined): void {
	field.isChangedByOthers = true;
	field.othersSequence = sequence;
	for (const [key, entryHistory] of field.entries ?? []) {
		if (!change || entriesByKey(change.before).has(key) !== entriesByKey(change.after).has(key)) entryHistory.isChangedByOthers = true;
	}
}

function entriesAfter(previousEntries: FieldHistory['entries'], { before, after }: ValueChange): FieldHistory['entries'] {
	if (!Array.isArray(before) && !Array.isArray(after)) return previousEntries;
	const [entriesBefore, entriesNow] = [entriesByKey(before), entriesByKey(after)];
	const entries = previousEntries ?? new Map<string, EntryHistory>();
	for (const [key, entry] of new Map([...entriesBefore, ...entriesNow])) {
		const [wasIn, isIn] = [entriesBefore.has(key), entriesNow.has(key)];
		if (wasIn === isIn) continue;
		const entryHistory = entries.get(key);
		if (entryHistory && !entryHistory.isChangedByOthers) entryHistory.isIn = isIn;
		else entries.set(key, { entry, wasIn, isIn, isChangedByOthers: false });
	}
	return entries;
}

const entriesByKey = (list: unknown): Map<string, unknown> =>
	new Map((Array.isArray(list) ? list : []).map((entry) => [canonicalText(entry), entry]));

/** A list whose entries were undone one by one. */
interface UndoneList {
	list: unknown[];
	/** Whether an entry stays as the workflow left it, because others have changed it since. */
	hasKeptEntries: boolean;
}

/**
 * Removes the entries that the workflow has added to a list, and adds those that it has removed. An entry that others
 * have changed since stays as it is, unless the undo takes precedence.
 *
 * @param withNewIds replaces the ids of records that were created again
 */
export function withEntriesUndone(
	current: unknown[],
	{ entries }: FieldHistory,
	withNewIds: (value: unknown) => unknown,
	takesPrecedence: boolean,
): UndoneList {
	const changedEntries = [...(entries?.values() ?? [])]
		.filter(({ wasIn, isIn }) => wasIn !== isIn)
		.map((entryHistory) => ({ ...entryHistory, entry: withNewIds(entryHistory.entry) }));
	const currentEntries = entriesByKey(current);
	const isInNow = ({ entry }: EntryHistory) => currentEntries.has(canonicalText(entry));
	const undoneEntries = changedEntries.filter(({ isChangedByOthers }) => takesPrecedence || !isChangedByOthers);
	const addedKeys = new Set(undoneEntries.filter(({ isIn }) => isIn).map(({ entry }) => canonicalText(entry)));
	const removedEntries = undoneEntries.filter((entryHistory) => !entryHistory.isIn && !isInNow(entryHistory)).map(({ entry }) => entry);
	return {
		list: [...current.filter((entry) => !addedKeys.has(canonicalText(entry))), ...removedEntries],
		hasKeptEntries: changedEntries.some((entry) => !undoneEntries.includes(entry) && isInNow(entry) === entry.isIn),
	};
}
