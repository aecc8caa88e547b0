import type { DatabaseSync } from 'node:sqlite';
import { withErased } from '../foundation/json.ts';
import type { ResponseData } from '../foundation/response-data.ts';
import { rowOf, rowsOf, statementsOf } from './statements.ts';

const keptForMs = 24 * 60 * 60 * 1000;

/** Stores the responses to requests with an idempotency key for 24 hours. Times are in milliseconds. */
export class StoredResponses {
	private readonly statements;

	constructor(database: DatabaseSync) {
		this.statements = statementsOf(database, `
			CREATE TABLE IF NOT EXISTS idempotency_keys (
				key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, answer TEXT NOT NULL, created_at REAL NOT NULL
			);
			CREATE INDEX IF NOT EXISTS idempotency_keys_by_created_at ON idempotency_keys (created_at);
		`, {
			expire: 'DELETE FROM idempotency_keys WHERE created_at <= ?',
			select: 'SELECT fingerprint, answer FROM idempotency_keys WHERE key = ?',
			with: 'SELECT key, answer FROM idempotency_keys WHERE instr(answer, ?) > 0',
			update: 'UPDATE idempotency_keys SET answer = ? WHERE key = ?',
			insert: 'INSERT INTO idempotency_keys VALUES (?, ?, ?, ?)',
		});
	}

	find(key: string, now: number): { fingerprint: string; response: ResponseData } | undefined {
		this.statements.expire.run(now - keptForMs);
		const row = rowOf<{ fingerprint: string; answer: string }>(this.statements.select, key);
		return row && { fingerprint: row.fingerprint, response: JSON.parse(row.answer) as ResponseData };
	}

	/** Removes the values of a record from all stored responses. */
	erase(recordId: string): void {
		for (const { key, answer } of rowsOf<{ key: string; answer: string }>(this.statements.with, recordId)) {
			const response = JSON.parse(answer) as ResponseData;
			const body = response.body === null ? null : withErased(response.body, recordId);
			this.statements.update.run(JSON.stringify({ ...response, body }), key);
		}
	}

	/** Call it in the transaction of the request, so that the database keeps both or neither. */
	add(key: string, fingerprint: string, response: ResponseData, now: number): void {
		this.statements.insert.run(key, fingerprint, JSON.stringify(response), now);
	}
}
