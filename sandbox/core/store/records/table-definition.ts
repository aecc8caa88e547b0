import type { Resource } from '../../schemas/resource.ts';
import { type Column, quoted, sortColumn } from './columns.ts';

/** The SQL condition for records that are not deleted. */
export const live = "deleted_at = ''";

export const sqlName = ({ name, table = name }: Resource): string => table.replace(/\W/g, '_');

/** The column with the instant of a record's next timed transition; empty if it has none. */
export const nextStepAt = 'next_step_at';

/** The SQL after CREATE TABLE. */
export function tableDefinition(resource: Resource, columns: Column[]): string {
	const columnDefinitions = columns.map(({ name, isText }) => `${quoted(name)} ${isText ? 'TEXT' : 'REAL'}`);
	if (resource.states?.timed) columnDefinitions.push(`${nextStepAt} TEXT NOT NULL`);
	// The document comes last, so that scanning the columns before it does not touch it.
	return `${sqlName(resource)} (
		id TEXT NOT NULL PRIMARY KEY, search TEXT NOT NULL, ${columnDefinitions.join(', ')}, document TEXT NOT NULL
	)`;
}

/** The table of the values in a resource's lists of addresses and numbers, such as the emails of contacts, by which records are found. */
export const entriesName = (resource: Resource): string => `${sqlName(resource)}_entries`;

/** The SQL that creates this table and keeps it equal to the lists; empty if there are no such lists. */
export function entriesDefinition(resource: Resource): string {
	const lists = Object.entries(resource.properties).filter(([, { items }]) => items?.properties?.['primary']);
	if (lists.length === 0) return '';
	const [table, entries] = [sqlName(resource), entriesName(resource)];
	const add = lists.map(([list]) => {
		return `INSERT OR IGNORE INTO ${entries} SELECT value ->> 'value', new.id FROM json_each(new.document, '$.${list}');`;
	});
	return `
		CREATE TABLE IF NOT EXISTS ${entries} (value TEXT, id TEXT, PRIMARY KEY (value, id)) WITHOUT ROWID;
		CREATE INDEX IF NOT EXISTS ${entries}_by_id ON ${entries} (id);
		CREATE TRIGGER IF NOT EXISTS ${entries}_added AFTER INSERT ON ${table} BEGIN ${add.join(' ')} END;
		CREATE TRIGGER IF NOT EXISTS ${entries}_changed AFTER UPDATE OF document ON ${table} BEGIN
			DELETE FROM ${entries} WHERE id = new.id; ${add.join(' ')}
		END;
	`;
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
