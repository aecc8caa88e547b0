import type { Resource } from '../../schemas/resource.ts';
import { foldCase } from './fold-case.ts';
import type { Condition } from './condition.ts';
import { hasSearchIndex } from './table-definition.ts';
import { rowsMatching } from './word-index.ts';

/** Enough trigrams to leave few records; each costs an index lookup. */
const maxTrigrams = 30;

/**
 * Selects the records that contain every word, ignoring case and accents. The index finds the records
 * with the words' trigrams, and their texts are searched for the words. Words of one or two characters have
 * no trigrams.
 */
export function searchConditions(resource: Resource, text: string): Condition[] {
	const words = foldCase(text).split(/\s+/).filter(Boolean);
	const contained = words.map((word) => ({ sql: 'instr(search, ?) > 0', values: [word] }));
	const trigrams = [...new Set(words.flatMap(trigramsOf))].slice(0, maxTrigrams);
	if (!hasSearchIndex(resource) || trigrams.length === 0) return contained;
	return [rowsMatching(resource, trigrams.map(quotedString).join(' AND ')), ...contained];
}

/** The trigrams of a word by code point, as FTS5 builds them. */
function trigramsOf(word: string): string[] {
	const characters = [...word];
	const trigrams = characters.slice(2).map((_, i) => characters.slice(i, i + 3).join(''));
	// SQLite treats the character NUL as the end of a query.
	return trigrams.filter((trigram) => !trigram.includes('\0'));
}

/** A string in the query language of FTS5 (https://sqlite.org/fts5.html, 3.1). */
const quotedString = (text: string): string => `"${text.replaceAll('"', '""')}"`;
