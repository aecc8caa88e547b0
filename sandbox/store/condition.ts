import type { Cell } from './columns.ts';

/** A SQL condition and the values of its placeholders. */
export interface Condition {
	sql: string;
	values: Cell[];
	/** Whether the condition leaves few rows, which an index finds. */
	isSelective?: boolean;
	/** Whether changes of other tables change what meets the condition. */
	readsOtherTables?: boolean;
}
