import type { DatabaseSync } from 'node:sqlite';

/** Removes differences of case and accents. */
export const foldCase = (text: string): string =>
	(isAscii(text) ? text : text.normalize('NFKD').replace(/\p{M}/gu, '')).toLowerCase();

const isAscii = (text: string): boolean => !/[^ -~\n\r\t]/.test(text);

/** Adds the SQL function `fold_case` to a connection: SQLite's lower() handles only ASCII. */
export function addFoldCase(database: DatabaseSync): void {
	database.function('fold_case', { deterministic: true }, (text) => foldCase(String(text ?? '')));
}
