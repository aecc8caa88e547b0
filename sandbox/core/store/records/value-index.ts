import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type JsonObject, memberNamed } from '../../foundation/json.ts';
import type { Resource } from '../../schemas/resource.ts';
import type { Cell } from './columns.ts';
import type { Condition, Entries } from './condition.ts';
import { sqlName } from './table-definition.ts';

/** Longer texts are found by their beginning and then compared in full. */
const maxIndexedLength = 255;

/** The values of custom fields of a resource's records, by which they are found. */
export const valueIndex = (resource: Resource): string => `${sqlName(resource)}_values`;

/** The SQL after CREATE TABLE. */
export const valueIndexDefinition = (resource: Resource): string =>
	`${valueIndex(resource)} (
		field TEXT, value, record INTEGER, PRIMARY KEY (field, value, record)
	) WITHOUT ROWID`;

/**
 * Writes the index of custom values together with each record, so that no index ever has to be built
 * later: with a million records, that would block all requests for seconds.
 */
export class ValueIndex {
	private readonly insert: StatementSync;
	private readonly remove: StatementSync;

	constructor(database: DatabaseSync, resource: Resource) {
		const name = valueIndex(resource);
		// Each value has its own statement: before a statement that writes several rows, the search index is flushed.
		this.insert = database.prepare(`INSERT INTO ${name} VALUES (?, ?, ?)`);
		this.remove = database.prepare(`DELETE FROM ${name} WHERE field = ? AND value = ? AND record = ?`);
	}

	/**
	 * @param rowid of the record
	 * @param before its custom fields before the change
	 */
	write(rowid: number | bigint, before: JsonObject, after: JsonObject): void {
		for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
			const [old, entry] = [entryOf(memberNamed(before, field)), entryOf(memberNamed(after, field))];
			if (old === entry) continue;
			if (old !== undefined) this.remove.run(field, old, rowid);
			if (entry !== undefined) this.insert.run(field, entry, rowid);
		}
	}
}

/**
 * Selects the index entries that meet a condition on a custom field, and possibly entries of longer texts
 * with the same beginning.
 */
export const entriesWith = (field: string, operator: string, values: Cell[]): Entries => ({
	field,
	// An entry may equal the beginning of a longer text, so `>` and `<` include it.
	sql: operator === '=' ? `value IN (${values.map(() => '?').join()})` : `value ${operator[0]}= ?`,
	values: values.map((value) => entryOf(value)!),
});

/** Joins the conditions on the same field: an upper and a lower bound leave less than each of them. */
export function entriesByField(conditions: readonly Condition[]): Condition[] {
	const byField = new Map<string, Condition>();
	for (const { entries } of conditions) {
		if (!entries) continue;
		const { sql, values } = byField.get(entries.field) ?? { sql: 'field = ?', values: [entries.field] };
		const all = { sql: `${sql} AND ${entries.sql}`, values: [...values, ...entries.values] };
		byField.set(entries.field, all);
	}
	return [...byField.values()];
}

/** A value as SQL reads it from the document's JSON; for a long text, its beginning. */
function entryOf(value: unknown): Cell | undefined {
	if (value === undefined) return undefined;
	if (typeof value === 'number' || typeof value === 'boolean') return Number(value);
	return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, maxIndexedLength);
}
