import type { DatabaseSync } from 'node:sqlite';

/** Makes texts that differ in case and accents only the same. */
export const foldCase = (text: string): string =>
	(isAscii(text) ? text : text.normalize('NFKD').replace(/\p{M}/gu, '')).toLowerCase();

const isAscii = (text: string): boolean => !/[^ -~\n\r\t]/.test(text);

/** Makes `fold_case` known to a connection: SQLite's own lower() knows ASCII only. */
export function addFoldCase(database: DatabaseSync): void {
	database.function('fold_case', { deterministic: true }, (text) => foldCase(String(text ?? '')));
}
