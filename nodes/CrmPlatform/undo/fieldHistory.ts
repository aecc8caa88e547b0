import { canonical, hasSameValue } from './sameValue';

/** What the changes to be undone have made of one field. */
export interface FieldHistory {
	/** The value before them; before the last of them, where someone else has changed it in between. */
	before: unknown;
	after: unknown;
	/** Whether someone else has changed it since. */
	isTheirs: boolean;
	/** The place in the log of the change that found `before`. */
	begin: number;
	/** That of the last change of someone else, if there is one. */
	theirsAt?: number;
	/** Whether the last of all changes has cleared a custom field, and the service leaves out empty ones. */
	isOmitted?: boolean;
	/** Of a list, what became of each entry that these changes have added or taken out. */
	entries?: Map<string, EntryHistory>;
}

export interface EntryHistory {
	entry: unknown;
	wasIn: boolean;
	isIn: boolean;
	/** Whether someone else has taken it out or added it again since. */
	isTheirs: boolean;
}

/** A value before and after a change, at a place of the log. */
interface ValueChange {
	sequence: number;
	before: unknown;
	after: unknown;
}

/** @returns the history of a field with a change to be undone at its end */
export function withChange(fieldHistory: FieldHistory | undefined, change: ValueChange): FieldHistory {
	const { sequence, before, after } = change;
	const entries = entriesAfter(fieldHistory?.entries, change);
	// If nothing changed in between, this change continues the previous one.
	const isSeamless = fieldHistory !== undefined && hasSameValue(fieldHistory.after, before);
	if (isSeamless && !fieldHistory.isTheirs) return Object.assign(fieldHistory, { after, ...(entries && { entries }) });
	const theirsAt = fieldHistory && (fieldHistory.isTheirs ? fieldHistory.theirsAt : sequence - 0.5);
	return { before, after, isTheirs: false, begin: sequence, ...(theirsAt !== undefined && { theirsAt }), ...(entries && { entries }) };
}

/** Notes that someone else has changed the field. @param change undefined where the log does not have the values */
export function noteTheirs(field: FieldHistory, sequence: number, change: Omit<ValueChange, 'sequence'> | undefined): void {
	field.isTheirs = true;
	field.theirsAt = sequence;
	for (const [key, entryHistory] of field.entries ?? []) {
		if (!change || keysOf(change.before).has(key) !== keysOf(change.after).has(key)) entryHistory.isTheirs = true;
	}
}

function entriesAfter(earlierEntries: FieldHistory['entries'], { before, after }: ValueChange): FieldHistory['entries'] {
	if (!Array.isArray(before) && !Array.isArray(after)) return earlierEntries;
	const [former, present] = [keysOf(before), keysOf(after)];
	const entries = earlierEntries ?? new Map<string, EntryHistory>();
	for (const [key, entry] of new Map([...former, ...present])) {
		const [wasIn, isIn] = [former.has(key), present.has(key)];
		if (wasIn === isIn) continue;
		const entryHistory = entries.get(key);
		if (entryHistory && !entryHistory.isTheirs) entryHistory.isIn = isIn;
		else entries.set(key, { entry, wasIn, isIn, isTheirs: false });
	}
	return entries;
}

const keysOf = (list: unknown): Map<string, unknown> => new Map((Array.isArray(list) ? list : []).map((entry) => [canonical(entry), entry]));

/**
 * A list without the entries that the workflow has added, and with those that it has taken out. What others have done
 * with an entry since counts more, unless the undo takes precedence.
 *
 * @returns also whether an entry stays as the workflow has left it because others have decided so
 */
export function withoutOwn(now: unknown[], { entries }: FieldHistory, renamed: (value: unknown) => unknown, takesPrecedence: boolean): { list: unknown[]; isKept: boolean } {
	const ownEntries = [...(entries?.values() ?? [])].filter(({ wasIn, isIn }) => wasIn !== isIn).map((entryHistory) => ({ ...entryHistory, entry: renamed(entryHistory.entry) }));
	const present = keysOf(now);
	const isIn = ({ entry }: EntryHistory) => present.has(canonical(entry));
	const undoneEntries = ownEntries.filter((entryHistory) => takesPrecedence || !entryHistory.isTheirs);
	const added = new Set(undoneEntries.filter((entryHistory) => entryHistory.isIn).map(({ entry }) => canonical(entry)));
	const back = undoneEntries.filter((entryHistory) => !entryHistory.isIn && !isIn(entryHistory)).map(({ entry }) => entry);
	return {
		list: [...now.filter((entry) => !added.has(canonical(entry))), ...back],
		isKept: ownEntries.some((entryHistory) => !undoneEntries.includes(entryHistory) && isIn(entryHistory) === entryHistory.isIn),
	};
}
