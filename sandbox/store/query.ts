import type { Cell } from './columns.ts';

/** A SELECT and the values of its question marks. */
export interface Query {
	sql: string;
	values: Cell[];
}

export type Row = Record<string, unknown>;
