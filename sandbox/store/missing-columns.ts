import type { DatabaseSync } from 'node:sqlite';

/**
 * Adds columns that a table of an older database file lacks.
 *
 * @param columns their definitions in SQL, by name
 */
export function addMissingColumns(
	database: DatabaseSync,
	table: string,
	columns: Record<string, string>,
): void {
	const rows = database.prepare('SELECT name FROM pragma_table_info(?)').all(table);
	const known = rows.map((row) => row['name']);
	for (const [name, definition] of Object.entries(columns)) {
		if (!known.includes(name)) database.exec(`ALTER TABLE ${table} ADD COLUMN ${name} ${definition}`);
	}
}
