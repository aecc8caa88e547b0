import { canonicalText, hasSameValue } from '../base/json';

/** What the changes of one value amount to. */
interface ValueHistory {
	/** The value before the changes to undo; before the last of them, if someone else has changed it in between. */
	before: unknown;
	/** The value after the changes to undo. */
	after: unknown;
	/** Sequence of the change that replaced `before`. */
	firstSequence: number;
	/** Sequence of the last change by someone else before that; for one that the credential does not see, of the change after it. */
	othersBefore: number | undefined;
	/** Sequence of the last change by someone else since, unless an undo has taken it back. */
	othersSince?: number | undefined;
}

export interface FieldHistory extends ValueHistory {
	/** For a list: its entries that the changes to undo have moved, each with the history of whether the list contains it. */
	entries: ReadonlyMap<string, { entry: unknown; moves: ValueHistory }>;
}

/** Sequence of the last change of a field by someone else since the first change to undo. */
export const lastByOthers = ({ othersBefore, othersSince }: FieldHistory): number | undefined => othersSince ?? othersBefore;

interface ValueChange {
	isToUndo: boolean;
	/** Whether it was itself an undo. */
	isUndo: boolean;
	sequence: number;
	before: unknown;
	after: unknown;
}

/** The history of a field after a further change; undefined as long as none is to be undone. */
export function fieldAfter(history: FieldHistory | undefined, change: ValueChange): FieldHistory | undefined {
	const next = valueAfter(history, change);
	return next && { ...next, entries: entriesAfter(history?.entries ?? new Map(), change) };
}

function valueAfter(history: ValueHistory | undefined, { isToUndo, isUndo, sequence, before, after }: ValueChange): ValueHistory | undefined {
	if (isToUndo) {
		const isContinued = history && !history.othersSince && hasSameValue(history.after, before);
		if (isContinued) return { ...history, after };
		return { before, after, firstSequence: sequence, othersBefore: history && (history.othersSince ?? sequence) };
	}
	if (!history) return undefined;
	// An undo that restores the value after the changes to undo takes back what others have changed since.
	const isTakenBack = isUndo && hasSameValue(after, history.after);
	return { ...history, othersSince: isTakenBack ? undefined : sequence };
}

/** In a list, each entry is like a field whose value is whether the list contains it. */
function entriesAfter(histories: FieldHistory['entries'], change: ValueChange): FieldHistory['entries'] {
	if (!Array.isArray(change.before) && !Array.isArray(change.after)) return histories;
	const [before, after] = [entriesByKey(change.before), entriesByKey(change.after)];
	const next = new Map(histories);
	for (const [key, entry] of new Map([...before, ...after])) {
		if (before.has(key) === after.has(key)) continue;
		const moves = valueAfter(histories.get(key)?.moves, { ...change, before: before.has(key), after: after.has(key) });
		if (moves) next.set(key, { entry, moves });
	}
	return next;
}

const entriesByKey = (list: unknown): Map<string, unknown> =>
	new Map((Array.isArray(list) ? list : []).map((entry) => [canonicalText(entry), entry]));
