import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { withErased } from '../foundation/json.ts';
import type { ResponseData } from '../foundation/response-data.ts';

const keptForMs = 24 * 60 * 60 * 1000;

/** Stores the responses to requests with an idempotency key for 24 hours. Times are in milliseconds. */
export class StoredResponses {
	private readonly expire: StatementSync;
	private readonly select: StatementSync;
	private readonly insert: StatementSync;
	private readonly with: StatementSync;
	private readonly update: StatementSync;

	constructor(database: DatabaseSync) {
		database.exec(`
			CREATE TABLE IF NOT EXISTS idempotency_keys (
				key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, answer TEXT NOT NULL, created_at REAL NOT NULL
			);
			CREATE INDEX IF NOT EXISTS idempotency_keys_by_created_at ON idempotency_keys (created_at);
		`);
		this.expire = database.prepare('DELETE FROM idempotency_keys WHERE created_at <= ?');
		this.select = database.prepare('SELECT fingerprint, answer FROM idempotency_keys WHERE key = ?');
		this.with = database.prepare('SELECT key, answer FROM idempotency_keys WHERE instr(answer, ?) > 0');
		this.update = database.prepare('UPDATE idempotency_keys SET answer = ? WHERE key = ?');
		this.insert = database.prepare('INSERT INTO idempotency_keys VALUES (?, ?, ?, ?)');
	}

	find(key: string, now: number): { fingerprint: string; response: ResponseData } | undefined {
		this.expire.run(now - keptForMs);
		const row = this.select.get(key);
		if (!row) return undefined;
		const response = JSON.parse(row['answer'] as string) as ResponseData;
		return { fingerprint: row['fingerprint'] as string, response };
	}

	/** Removes the values of a record from all stored responses. */
	erase(recordId: string): void {
		for (const { key, answer } of this.with.all(recordId)) {
			const response = JSON.parse(answer as string) as ResponseData;
			const body = response.body === null ? null : withErased(response.body, recordId);
			this.update.run(JSON.stringify({ ...response, body }), key!);
		}
	}

	/** Call it in the transaction of the request, so that the database keeps both or neither. */
	add(key: string, fingerprint: string, response: ResponseData, now: number): void {
		this.insert.run(key, fingerprint, JSON.stringify(response), now);
	}
}
