import { createHmac, randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/** A random key that nobody but the service has; it is made with the file and stays the same. */
export class AccountKey {
	private readonly key: Uint8Array;

	constructor(database: DatabaseSync) {
		database.exec(
			'CREATE TABLE IF NOT EXISTS account_key (id INTEGER PRIMARY KEY CHECK (id = 1), key BLOB NOT NULL)',
		);
		database.prepare('INSERT OR IGNORE INTO account_key VALUES (1, ?)').run(randomBytes(32));
		this.key = database.prepare('SELECT key FROM account_key').get()!['key'] as Uint8Array;
	}

	/**
	 * HMAC-SHA256 of a text, which only the service can make.
	 *
	 * @param purpose keeps what is made for one purpose from being good for another
	 */
	mac(purpose: string, text: string): Buffer {
		return createHmac('sha256', this.key).update(`${purpose}\n${text}`).digest();
	}
}
