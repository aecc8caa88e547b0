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
	/** Whether at most one live record has each of its values, so that an index finds it. */
	isUnique?: boolean;
	entries?: Entries;
	/** Whether the condition depends on other tables. */
	readsOtherTables?: boolean;
}
