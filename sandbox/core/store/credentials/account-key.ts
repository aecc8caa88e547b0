import { createHmac, randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/** A secret key of the service, generated with the database and never changed. */
export class AccountKey {
	private readonly key: Uint8Array;

	constructor(database: DatabaseSync) {
		database.exec('CREATE TABLE IF NOT EXISTS account_key (id INTEGER PRIMARY KEY CHECK (id = 1), key BLOB NOT NULL)');
		database.prepare('INSERT OR IGNORE INTO account_key VALUES (1, ?)').run(randomBytes(32));
		this.key = database.prepare('SELECT key FROM account_key').get()!['key'] as Uint8Array;
	}

	/**
	 * Computes the HMAC-SHA256 of a text.
	 *
	 * @param purpose separates domains, so that a MAC for one purpose is not valid for another
	 */
	mac(purpose: string, text: string): Buffer {
		return createHmac('sha256', this.key).update(`${purpose}\n${text}`).digest();
	}
}
