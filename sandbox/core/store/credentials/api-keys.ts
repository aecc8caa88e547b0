import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
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

/** Recording every use would turn every read into a write. */
const useIsNotedEveryMs = 60_000;

/** The API keys of the account. Only hashes are stored. */
export class ApiKeys {
	private readonly statements;

	constructor(database: DatabaseSync) {
		database.exec(`
			CREATE TABLE IF NOT EXISTS api_keys (
				id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, name TEXT NOT NULL, hint TEXT NOT NULL,
				created_at REAL NOT NULL, last_used_at REAL
			)
		`);
		this.statements = {
			insert: database.prepare(`
				INSERT INTO api_keys (id, hash, name, hint, created_at) VALUES (?, ?, ?, ?, ?)
				ON CONFLICT (hash) DO NOTHING
			`),
			select: database.prepare('SELECT * FROM api_keys ORDER BY created_at, id'),
			find: database.prepare('SELECT * FROM api_keys WHERE hash = ?'),
			has: database.prepare('SELECT 1 FROM api_keys WHERE id = ?'),
			use: database.prepare('UPDATE api_keys SET last_used_at = ? WHERE id = ?'),
			delete: database.prepare('DELETE FROM api_keys WHERE id = ?'),
		};
	}

	/** Adds a key. Adding it again changes nothing. */
	add(id: string, key: string, { name = 'API key', now = Date.now() } = {}): void {
		this.statements.insert.run(id, hashOf(key), name, key.slice(-4), now);
	}

	/** Finds a key by its secret. The lookup goes by hash, so its timing reveals nothing about valid keys. */
	find(key: string): ApiKey | undefined {
		const row = this.statements.find.get(hashOf(key));
		return row && apiKeyOf(row);
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
		return this.statements.select.all().map(apiKeyOf);
	}

	/** Revokes a key; `revokeKey` deletes its subscriptions too. */
	revoke(id: string): void {
		this.statements.delete.run(id);
	}
}

export const newApiKey = (): string => `crm_${randomBytes(24).toString('base64url')}`;

const apiKeyOf = (row: Record<string, unknown>): ApiKey => ({
	id: row['id'] as string,
	name: row['name'] as string,
	hint: row['hint'] as string,
	createdAt: row['created_at'] as number,
	lastUsedAt: row['last_used_at'] as number | null,
});
