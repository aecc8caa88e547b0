import type { Cell } from './columns.ts';

/** A SELECT and the values of its placeholders. */
export interface Query {
	sql: string;
	values: Cell[];
}

export type Row = Record<string, unknown>;
