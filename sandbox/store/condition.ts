import type { Cell } from './columns.ts';

/** A piece of SQL that is true or false of a row, and the values of its question marks. */
export interface Condition {
	sql: string;
	values: Cell[];
	/** Whether it leaves few rows and an index finds them. */
	isSelective?: boolean;
}
