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
			CREATE TABLE IF NOT EXISTS page_sessions (
				hash BLOB PRIMARY KEY, api_hash BLOB NOT NULL UNIQUE, expires_at REAL NOT NULL,
				user_id TEXT NOT NULL REFERENCES members ON DELETE CASCADE
			)
		`, {
			insert: 'INSERT INTO page_sessions (hash, api_hash, user_id, expires_at) VALUES (?, ?, ?, ?)',
			select: 'SELECT user_id FROM page_sessions WHERE hash = ? AND expires_at > ?',
			selectByToken: 'SELECT user_id FROM page_sessions WHERE api_hash = ? AND expires_at > ?',
			delete: 'DELETE FROM page_sessions WHERE hash = ?',
			expire: 'DELETE FROM page_sessions WHERE expires_at <= ?',
			end: 'DELETE FROM page_sessions WHERE user_id = ?',
		});
	}

	/** @returns the token for the browser's cookie */
	open(userId: string, now: number): string {
		this.statements.expire.run(now);
		const token = newSecret('crm_session');
		this.statements.insert.run(hashOf(token), hashOf(apiTokenOf(token)), userId, now + lastsMs);
		return token;
	}

	/** @returns the id of the user who signed in */
	find(token: string, now: number): string | undefined {
		return this.statements.select.get(hashOf(token), now)?.['user_id'] as string | undefined;
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

/**
 * The token with which the documentation page calls the API for its reader, as long as they are signed in. Scripts may
 * read it; the token of the cookie cannot be derived from it.
 */
export const apiTokenOf = (token: string): string => `crm_page_${createHmac('sha256', token).update('api').digest('base64url')}`;
