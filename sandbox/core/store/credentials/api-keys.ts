import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { rowOf, rowsOf, statementsOf } from '../statements.ts';
import { hashOf } from './secrets.ts';

/** An API key without its secret. Times are in milliseconds since 1970. */
export interface ApiKey {
	id: string;
	name: string;
	/** The last characters of the key, for recognition. */
	hint: string;
	createdAt: number;
	lastUsedAt: number | null;
}

const columns = 'id, name, hint, created_at AS createdAt, last_used_at AS lastUsedAt';

/** Recording every use would turn every read into a write. */
const useIsNotedEveryMs = 60_000;

/** The API keys of the account. Only hashes are stored. */
export class ApiKeys {
	private readonly statements;

	constructor(database: DatabaseSync) {
		this.statements = statementsOf(database, `
			CREATE TABLE IF NOT EXISTS api_keys (
				id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, name TEXT NOT NULL, hint TEXT NOT NULL,
				created_at REAL NOT NULL, last_used_at REAL
			)
		`, {
			insert: `
				INSERT INTO api_keys (id, hash, name, hint, created_at) VALUES (?, ?, ?, ?, ?)
				ON CONFLICT (hash) DO NOTHING
			`,
			select: `SELECT ${columns} FROM api_keys ORDER BY created_at, id`,
			find: `SELECT ${columns} FROM api_keys WHERE hash = ?`,
			has: 'SELECT 1 FROM api_keys WHERE id = ?',
			use: 'UPDATE api_keys SET last_used_at = ? WHERE id = ?',
			delete: 'DELETE FROM api_keys WHERE id = ?',
		});
	}

	/** Adds a key. Adding it again changes nothing. */
	add(id: string, key: string, { name = 'API key', now = Date.now() } = {}): void {
		this.statements.insert.run(id, hashOf(key), name, key.slice(-4), now);
	}

	/** Finds a key by its secret. The lookup goes by hash, so its timing reveals nothing about valid keys. */
	find(key: string): ApiKey | undefined {
		return rowOf<ApiKey>(this.statements.find, hashOf(key));
	}

	/** False once it is revoked. */
	has(id: string): boolean {
		return this.statements.has.get(id) !== undefined;
	}

	/** Records the last use of a key, to the minute. */
	noteUse({ id, lastUsedAt }: ApiKey, now: number): void {
		if (now - (lastUsedAt ?? 0) >= useIsNotedEveryMs) this.statements.use.run(now, id);
	}

	/** Lists the keys, oldest first. */
	list(): ApiKey[] {
		return rowsOf<ApiKey>(this.statements.select);
	}

	/** Revokes a key; `revokeKey` deletes its subscriptions too. */
	revoke(id: string): void {
		this.statements.delete.run(id);
	}
}

export const newApiKey = (): string => `crm_${randomBytes(24).toString('base64url')}`;
