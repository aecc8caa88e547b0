import type { DatabaseSync } from 'node:sqlite';

/** Removes differences of case and accents. */
export const foldCase = (text: string): string =>
	(isAscii(text) ? text : text.normalize('NFKD').replace(/\p{M}/gu, '')).toLowerCase();

const isAscii = (text: string): boolean => !/[^ -~\n\r\t]/.test(text);

/** Letters that are not another letter with an accent, as people sort them. */
const letters: ReadonlyMap<string, string> = new Map(
	Object.entries({ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', þ: 'th', ı: 'i', ŋ: 'n' }),
);

/** Marks that ASCII has between and behind letters and digits; people look for them before both. */
const marks = ':;<=>?@[\\]^_`{|}~';

/**
 * A text as SQLite, which compares bytes, has to see it to sort it as people do: whatever its case, with
 * accents beside their letters. It is close to ICU, of which JavaScript compares but gives no keys.
 */
export const orderKey = (text: string): string =>
	foldCase(text)
		.replaceAll(/[ßæœøđðłþıŋ]/g, (letter) => letters.get(letter)!)
		.replaceAll(/[:-@[-`{-~]/g, (mark) => String.fromCharCode(marks.indexOf(mark) + 1));

/** Adds the SQL function `fold_case` to a connection: SQLite's lower() handles only ASCII. */
export function addFoldCase(database: DatabaseSync): void {
	database.function('fold_case', { deterministic: true }, (text) => foldCase(String(text ?? '')));
}
