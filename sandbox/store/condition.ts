import type { Cell } from './columns.ts';

/** Entries of the index of custom values: those that records have which meet a condition. */
export interface Entries {
	field: string;
	sql: string;
	values: Cell[];
}

/** A SQL condition and the values of its placeholders. */
export interface Condition {
	sql: string;
	values: Cell[];
	/** Whether the condition leaves few rows, which an index finds. */
	isSelective?: boolean;
	entries?: Entries;
	/** Whether changes of other tables change what meets the condition. */
	readsOtherTables?: boolean;
}
