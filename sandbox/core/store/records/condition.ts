import type { Cell } from './columns.ts';

/** The entries in the index of custom values whose records meet a condition. */
export interface Entries {
	field: string;
	sql: string;
	values: Cell[];
}

/** A SQL condition and the values of its placeholders. */
export interface Condition {
	sql: string;
	values: Cell[];
	/** Whether each of its values is that of one live record at most, which an index finds. */
	isUnique?: boolean;
	entries?: Entries;
	/** Whether changes of other tables change what meets the condition. */
	readsOtherTables?: boolean;
}
