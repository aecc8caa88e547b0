import type { JsonSchema } from '../../schemas/json-schema.ts';
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

/** The table of what a resource's lists contain, by which records are found: links, tags, and addresses and numbers. */
export const entriesName = (resource: Resource): string => `${sqlName(resource)}_entries`;

/** The SQL of an entry of a list that is in this table, as filters compare it; undefined for other lists. */
export function entryOf({ items, ...list }: JsonSchema): string | undefined {
	if (items?.properties?.['primary']) return "value ->> 'value'";
	if (items?.properties?.['resource']) return "(value ->> 'resource') || ':' || (value ->> 'id')";
	return items && 'x-resource' in { ...list, ...items } ? 'value' : undefined;
}

/** The SQL after CREATE TABLE, and the SQL that keeps the table equal to the lists; undefined if there are no such lists. */
export function entriesDefinition(resource: Resource): { definition: string; triggers: string } | undefined {
	const lists = Object.entries(resource.properties).flatMap(([list, schema]) => {
		const entry = entryOf(schema);
		return entry === undefined ? [] : [{ list, entry }];
	});
	if (lists.length === 0) return undefined;
	const [table, entries] = [sqlName(resource), entriesName(resource)];
	const add = lists.map(({ list, entry }) => {
		return `INSERT OR IGNORE INTO ${entries} SELECT ${entry}, '${list}', new.id FROM json_each(new.document, '$.${list}');`;
	});
	const isChanged = lists.map(({ list }) => `old.document -> '$.${list}' IS NOT new.document -> '$.${list}'`);
	return {
		definition: `${entries} (value TEXT, list TEXT, id TEXT, PRIMARY KEY (value, list, id)) WITHOUT ROWID`,
		triggers: `
			CREATE INDEX ${entries}_by_id ON ${entries} (id);
			CREATE TRIGGER ${entries}_added AFTER INSERT ON ${table} BEGIN ${add.join(' ')} END;
			CREATE TRIGGER ${entries}_changed AFTER UPDATE OF document ON ${table} WHEN ${isChanged.join(' OR ')} BEGIN
				DELETE FROM ${entries} WHERE id = new.id; ${add.join(' ')}
			END;
		`,
	};
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
