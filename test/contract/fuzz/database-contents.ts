import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

/**
 * Watches what is kept in a database file, from outside.
 *
 * @returns gives a summary that is another one after any record, idempotency key or line of a job
 * was added, changed or removed
 */
export function watchContents(file: string): { summary(): string; close(): void } {
	const database = new DatabaseSync(file, { readOnly: true });
	// Counts the commits of other connections that wrote something.
	const version = database.prepare('PRAGMA data_version');
	const tables = database.prepare(`
		SELECT m.name, max(c.name = 'document') AS hasRecords
		FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table'
		GROUP BY m.name HAVING hasRecords OR m.name IN ('idempotency_keys', 'job_items', 'job_results')
	`);
	const summarize = () => {
		const hash = createHash('sha1');
		for (const { name, hasRecords } of tables.all()) {
			const expression = hasRecords ? `group_concat(${documentOf(String(name))})` : 'count(*)';
			const row = database.prepare(`SELECT ${expression} AS kept FROM "${name}"`).get()!;
			hash.update(`${name} ${row['kept']}\n`);
		}
		return hash.digest('hex');
	};
	let cache = { version: -1, summary: '' };
	return {
		summary() {
			const current = Number(version.get()!['data_version']);
			if (current !== cache.version) {
				cache = { version: current, summary: summarize() };
			}
			return cache.summary;
		},
		close: () => database.close(),
	};
}

/** Without what deliveries note in a webhook, at any time after the request that they are about. */
const documentOf = (table: string): string =>
	table === 'webhooks'
		? "json_remove(document, '$.failing_since', '$.last_success_at')"
		: 'document';
