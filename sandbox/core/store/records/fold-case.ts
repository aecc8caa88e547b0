import type { DatabaseSync } from 'node:sqlite';

/** Removes differences of case and accents. */
export const foldCase = (text: string): string =>
	(isAscii(text) ? text : text.normalize('NFKD').replace(/\p{M}/gu, '')).toLowerCase();

const isAscii = (text: string): boolean => !/[^ -~\n\r\t]/.test(text);

/** Letters that are not another letter with an accent, and how people sort them. */
const letters: ReadonlyMap<string, string> = new Map(
	Object.entries({ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', þ: 'th', ı: 'i', ŋ: 'n' }),
);

/** Punctuation that follows digits or letters in ASCII; people expect it before both. */
const marks = ':;<=>?@[\\]^_`{|}~';

/**
 * A sort key for SQLite, which compares bytes: it ignores case and sorts letters with accents beside those
 * without. The order is close to that of ICU, whose sort keys JavaScript does not expose.
 */
export const orderKey = (text: string): string =>
	foldCase(text).replaceAll(/[ßæœøđðłþıŋ]/g, (letter) => letters.get(letter)!)
		.replaceAll(/[:-@[-`{-~]/g, (mark) => String.fromCharCode(marks.indexOf(mark) + 1));

/** Adds the SQL function `fold_case` to a connection: SQLite's lower() handles only ASCII. */
export function addFoldCase(database: DatabaseSync): void {
	database.function('fold_case', { deterministic: true }, (text) => foldCase(String(text ?? '')));
}
