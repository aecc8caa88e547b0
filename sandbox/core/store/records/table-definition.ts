import { hasCustomFields, type Resource } from '../../schemas/resource.ts';
import { type Column, quoted, sortColumn } from './columns.ts';

/** The SQL condition for records that are not deleted. */
export const live = "deleted_at = ''";

export const sqlName = ({ name, table = name }: Resource): string => table.replace(/\W/g, '_');

/** The column with the instant of a record's next timed transition; empty if it has none. */
export const nextStepAt = 'next_step_at';

/**
 * Whether search uses an index. Resources without custom fields are definitions and lists of people,
 * which are too short to need one.
 */
export const hasSearchIndex = hasCustomFields;

/** The SQL after CREATE TABLE. */
export function tableDefinition(resource: Resource, columns: Column[]): string {
	const columnDefinitions = columns.map(({ name, isText }) => `${quoted(name)} ${isText ? 'TEXT' : 'REAL'}`);
	if (resource.states?.timed) columnDefinitions.push(`${nextStepAt} TEXT NOT NULL`);
	// The document comes last, so that scanning the columns before it does not touch it.
	return `${sqlName(resource)} (
		id TEXT PRIMARY KEY, search TEXT NOT NULL, ${columnDefinitions.join(', ')}, document TEXT NOT NULL
	)`;
}

/**
 * The SQL after CREATE, by name of the index: one for each field for sorting or lookups, and one for
 * each set of unique fields.
 */
export function indexDefinitions(resource: Resource): Map<string, string> {
	const { unique, sortable, lookups } = resource;
	const table = sqlName(resource);
	const definitions = new Map<string, string>();
	const define = (kind: string, name: string, fields: string[], where = '') => {
		const on = `${table} (${fields.map(quoted).join(', ')}) ${where}`;
		definitions.set(`${table}_${name}`, `${kind} IF NOT EXISTS ${table}_${name} ON ${on}`);
	};
	const always = ['created_at', 'updated_at'];
	const sorted = sortable.map((field) => sortColumn(resource, field));
	for (const field of [...always, ...sorted, ...lookups, ...Object.values(unique).flat()]) {
		define('INDEX', `by_${field}`, [field, 'id']);
	}
	for (const [name, fields] of Object.entries(unique)) {
		const presenceCondition = fields.map((field) => `${quoted(field)} <> ''`).join(' AND ');
		define('UNIQUE INDEX', `one_per_${name}`, fields, `WHERE ${live} AND ${presenceCondition}`);
	}
	if (resource.states?.timed) {
		define('INDEX', 'by_next_step', [nextStepAt, 'id'], `WHERE ${nextStepAt} <> ''`);
	}
	return definitions;
}

/**
 * SQL that creates the search index, with the same row ids as the table.
 *
 * It holds trigrams without their positions (https://sqlite.org/fts5.html, 4.4 and 4.5): that halves
 * its size, and a match has to be compared with the text anyway. It is not written by a trigger: before
 * each statement with a trigger, SQLite sets a savepoint, at which FTS5 flushes its buffer. It does not merge
 * its segments automatically, because that would delay a request.
 */
export const searchIndexDefinition = (resource: Resource): string => `
	CREATE VIRTUAL TABLE IF NOT EXISTS ${searchIndex(resource)} USING fts5(
		search, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1'
	);
	INSERT INTO ${searchIndex(resource)} (${searchIndex(resource)}, rank) VALUES ('automerge', 0), ('crisismerge', 1000), ('usermerge', 8);
`;

export const searchIndex = (resource: Resource): string => `${sqlName(resource)}_words`;
