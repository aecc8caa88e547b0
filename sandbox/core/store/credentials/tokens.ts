import type { DatabaseSync } from 'node:sqlite';
import { rowOf, statementsOf } from '../statements.ts';
import type { AccountKey } from './account-key.ts';
import { type Grant, grantOf, scopesOf } from './grants.ts';
import { hashOf, newSecret } from './secrets.ts';

/** How long an expired access token is remembered, so that the response to it is `token_expired`. */
const rememberedMs = 30 * 24 * 60 * 60 * 1000;

const refreshPrefix = 'crm_refresh';

interface AccessToken {
	grantId: string;
	clientId: string;
	userId: string;
	/** The scopes of the grant or a subset. */
	scopes: string[];
	expiresAt: number;
}

interface RefreshToken {
	grant: Grant;
	/** When it was first exchanged for a new one; null if it never was. */
	replacedAt: number | null;
}

/** Access and refresh tokens, stored as hashes. Times are in milliseconds since 1970. */
export class Tokens {
	private readonly statements;

	private readonly accountKey: AccountKey;

	constructor(database: DatabaseSync, accountKey: AccountKey) {
		this.accountKey = accountKey;
		this.statements = statementsOf(database, `
			CREATE TABLE IF NOT EXISTS oauth_access_tokens (
				hash BLOB PRIMARY KEY, token_scopes TEXT NOT NULL, expires_at REAL NOT NULL,
				grant_id TEXT NOT NULL REFERENCES oauth_grants ON DELETE CASCADE
			);
			CREATE TABLE IF NOT EXISTS oauth_refresh_tokens (
				hash BLOB PRIMARY KEY, replaced_at REAL,
				grant_id TEXT NOT NULL REFERENCES oauth_grants ON DELETE CASCADE
			);
			CREATE INDEX IF NOT EXISTS oauth_access_tokens_by_grant ON oauth_access_tokens (grant_id);
			CREATE INDEX IF NOT EXISTS oauth_refresh_tokens_by_grant ON oauth_refresh_tokens (grant_id);
		`, {
			insertAccess: `
				INSERT INTO oauth_access_tokens (hash, grant_id, token_scopes, expires_at)
				VALUES (?, ?, ?, ?)
			`,
			insertRefresh: 'INSERT INTO oauth_refresh_tokens (hash, grant_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
			access: `
				SELECT grant_id AS grantId, client_id AS clientId, user_id AS userId, token_scopes AS scopes, expires_at AS expiresAt
				FROM oauth_access_tokens JOIN oauth_grants USING (grant_id) WHERE hash = ?
			`,
			refresh: 'SELECT * FROM oauth_refresh_tokens JOIN oauth_grants USING (grant_id) WHERE hash = ?',
			replace: `
				UPDATE oauth_refresh_tokens SET replaced_at = ? WHERE hash = ? AND replaced_at IS NULL
			`,
			delete: 'DELETE FROM oauth_access_tokens WHERE hash = ?',
			forget: 'DELETE FROM oauth_access_tokens WHERE expires_at <= ?',
		});
	}

	addAccess(grantId: string, scopes: string[], expiresAt: number, now: number): string {
		this.statements.forget.run(now - rememberedMs);
		const token = newSecret('crm_access');
		this.statements.insertAccess.run(hashOf(token), grantId, scopes.join(' '), expiresAt);
		return token;
	}

	/**
	 * @param replaced the refresh token that the new one replaces. It has one successor, however often
	 * it is exchanged: with two valid successors, theft could not be detected (RFC 9700, 4.14.2).
	 */
	addRefresh(grantId: string, replaced?: string): string {
		const token = replaced === undefined ? newSecret(refreshPrefix) : this.successorOf(replaced);
		this.statements.insertRefresh.run(hashOf(token), grantId);
		return token;
	}

	/** Finds an access token, even if it has expired. */
	findAccess(token: string): AccessToken | undefined {
		const row = rowOf<Omit<AccessToken, 'scopes'> & { scopes: string }>(this.statements.access, hashOf(token));
		return row && { ...row, scopes: scopesOf(row.scopes) };
	}

	findRefresh(token: string): RefreshToken | undefined {
		const row = this.statements.refresh.get(hashOf(token));
		return row && { grant: grantOf(row), replacedAt: row['replaced_at'] as number | null };
	}

	/** Records when a refresh token was first exchanged. */
	replaceRefresh(token: string, now: number): void {
		this.statements.replace.run(now, hashOf(token));
	}

	/** Derives the successor of a refresh token. It is always the same, although only hashes of tokens are stored. */
	private successorOf(token: string): string {
		return `${refreshPrefix}_${this.accountKey.mac('refresh token', token).toString('base64url')}`;
	}

	deleteAccess(token: string): void {
		this.statements.delete.run(hashOf(token));
	}
}
