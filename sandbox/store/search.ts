import type { Resource } from '../schemas/resource.ts';
import { foldCase } from './fold-case.ts';
import type { Condition } from './condition.ts';
import { hasSearchIndex, searchIndex } from './definition.ts';

/** Enough to leave few records; each costs a look into the index. */
const mostTrigrams = 30;

/**
 * True of the records that have every word somewhere, whatever its case and accents. The index leaves
 * the records with the words' trigrams, among which the words are looked for. Words of one or two
 * characters have none.
 */
export function searchConditions(resource: Resource, text: string): Condition[] {
	const words = foldCase(text).split(/\s+/).filter(Boolean);
	const contained = words.map((word) => ({ sql: 'instr(search, ?) > 0', values: [word] }));
	const trigrams = [...new Set(words.flatMap(trigramsOf))].slice(0, mostTrigrams);
	if (!hasSearchIndex(resource) || trigrams.length === 0) return contained;
	const index = searchIndex(resource);
	const sql = `rowid IN (SELECT rowid FROM ${index} WHERE ${index} MATCH ?)`;
	return [{ sql, values: [trigrams.map(quotedString).join(' AND ')] }, ...contained];
}

/** By code point, as FTS5 makes them. */
function trigramsOf(word: string): string[] {
	const characters = [...word];
	const trigrams = characters.slice(2).map((_, i) => characters.slice(i, i + 3).join(''));
	// SQLite takes the character NUL for the end of a query.
	return trigrams.filter((trigram) => !trigram.includes('\0'));
}

/** A string in the query language of FTS5 (https://sqlite.org/fts5.html, 3.1). */
const quotedString = (text: string): string => `"${text.replaceAll('"', '""')}"`;
