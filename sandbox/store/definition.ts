import type { Resource } from '../schemas/resource.ts';
import { type Column, quoted } from './columns.ts';

/** SQL that is true of the records that are not deleted. */
export const live = "deleted_at = ''";

export const sqlName = (resource: Resource): string => resource.name.replace(/\W/g, '_');

/** What comes after CREATE TABLE. */
export function tableDefinition(resource: Resource, columns: Column[]): string {
	const typed = columns.map(({ name, isText }) => `${quoted(name)} ${isText ? 'TEXT' : 'REAL'}`);
	// The document comes last, so that scanning the columns before it does not touch it.
	return `${sqlName(resource)} (
		id TEXT PRIMARY KEY, search TEXT NOT NULL, ${typed.join(', ')}, document TEXT NOT NULL
	)`;
}

/**
 * What comes after CREATE, by name of the index: one for each field that is sorted or looked up by,
 * and one for each set of fields that no two live records share.
 */
export function indexDefinitions(resource: Resource): Map<string, string> {
	const { unique, sortable, lookups } = resource;
	const table = sqlName(resource);
	const definitions = new Map<string, string>();
	const define = (kind: string, name: string, fields: string[], where = '') => {
		const on = `${table} (${fields.map(quoted).join(', ')}) ${where}`;
		definitions.set(`${table}_${name}`, `${kind} IF NOT EXISTS ${table}_${name} ON ${on}`);
	};
	const always = ['created_at', 'updated_at', 'deleted_at'];
	for (const field of [...always, ...sortable, ...lookups, ...Object.values(unique).flat()]) {
		define('INDEX', `by_${field}`, [field, 'id']);
	}
	for (const [name, fields] of Object.entries(unique)) {
		const given = fields.map((field) => `${quoted(field)} <> ''`).join(' AND ');
		define('UNIQUE INDEX', `one_per_${name}`, fields, `WHERE ${live} AND ${given}`);
	}
	return definitions;
}
