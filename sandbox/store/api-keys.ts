import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** The keys that open the account. Only hashes are kept; SHA-256 will do for random keys. */
export class ApiKeys {
	private readonly insert: StatementSync;
	private readonly select: StatementSync;

	constructor(database: DatabaseSync) {
		database.exec(
			'CREATE TABLE IF NOT EXISTS api_keys (id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE)',
		);
		this.insert = database.prepare(
			'INSERT INTO api_keys (id, hash) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING',
		);
		this.select = database.prepare('SELECT id, hash FROM api_keys');
	}

	/** Lets a key in from now on. Adding one again changes nothing. */
	add(id: string, key: string): void {
		this.insert.run(id, hashOf(key));
	}

	/** The id of a key that was added, or undefined. Takes equally long for every wrong key. */
	find(key: string): string | undefined {
		const hash = hashOf(key);
		const matches = this.select
			.all()
			.filter((row) => timingSafeEqual(row['hash'] as Uint8Array, hash));
		return matches[0]?.['id'] as string | undefined;
	}
}

export const newApiKey = (): string => `crm_${randomBytes(24).toString('base64url')}`;

const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest();
