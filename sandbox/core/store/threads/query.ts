import type { Cell } from '../records/columns.ts';

/** A SELECT and the values of its placeholders. */
export interface Query {
	sql: string;
	values: Cell[];
	/** Whether reading ends where a page is full; see `pageOf`. */
	isPage?: boolean;
}

export type Row = Record<string, unknown>;
