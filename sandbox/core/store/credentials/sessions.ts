import { createHmac } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { statementsOf } from '../statements.ts';
import { hashOf, newSecret } from './secrets.ts';

const lastsMs = 12 * 60 * 60 * 1000;

/** The sessions of signed-in users. Times are in milliseconds since 1970. */
export class Sessions {
	private readonly statements;

	constructor(database: DatabaseSync) {
		this.statements = statementsOf(database, `
			CREATE TABLE IF NOT EXISTS sessions (
				hash BLOB PRIMARY KEY, expires_at REAL NOT NULL,
				user_id TEXT NOT NULL REFERENCES members ON DELETE CASCADE
			);
			CREATE TABLE IF NOT EXISTS session_tokens (
				token_hash BLOB PRIMARY KEY, hash BLOB NOT NULL REFERENCES sessions ON DELETE CASCADE
			);
			CREATE INDEX IF NOT EXISTS session_tokens_by_session ON session_tokens (hash);
		`, {
			insert: 'INSERT INTO sessions (hash, user_id, expires_at) VALUES (?, ?, ?)',
			select: 'SELECT user_id FROM sessions WHERE hash = ? AND expires_at > ?',
			delete: 'DELETE FROM sessions WHERE hash = ?',
			expire: 'DELETE FROM sessions WHERE expires_at <= ?',
			insertToken: 'INSERT OR IGNORE INTO session_tokens (token_hash, hash) VALUES (?, ?)',
			selectByToken: `
				SELECT user_id FROM session_tokens JOIN sessions USING (hash)
				WHERE token_hash = ? AND expires_at > ?
			`,
			end: 'DELETE FROM sessions WHERE user_id = ?',
		});
	}

	/** @returns the token for the browser's cookie */
	open(userId: string, now: number): string {
		this.statements.expire.run(now);
		const token = newSecret('crm_session');
		this.statements.insert.run(hashOf(token), userId, now + lastsMs);
		return token;
	}

	/** @returns the id of the user who signed in */
	find(token: string, now: number): string | undefined {
		return this.statements.select.get(hashOf(token), now)?.['user_id'] as string | undefined;
	}

	/**
	 * The token with which the documentation page calls the API for its reader, as long as they are
	 * signed in. Scripts may read it; the token of the cookie cannot be derived from it.
	 */
	apiToken(token: string): string {
		const apiToken = `crm_page_${createHmac('sha256', token).update('api').digest('base64url')}`;
		this.statements.insertToken.run(hashOf(apiToken), hashOf(token));
		return apiToken;
	}

	/** @returns the id of the user whose session an API token belongs to */
	findByApiToken(apiToken: string, now: number): string | undefined {
		return this.statements.selectByToken.get(hashOf(apiToken), now)?.['user_id'] as string | undefined;
	}

	close(token: string): void {
		this.statements.delete.run(hashOf(token));
	}

	/** Signs a user out everywhere. */
	closeAll(userId: string): void {
		this.statements.end.run(userId);
	}
}
