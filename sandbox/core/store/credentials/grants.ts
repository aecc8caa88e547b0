import type { DatabaseSync } from 'node:sqlite';
import { statementsOf } from '../statements.ts';
import { hashOf, newSecret } from './secrets.ts';

/** The permission that a user granted to a client. Its codes and tokens are deleted with it. */
export interface Grant {
	id: string;
	clientId: string;
	userId: string;
	scopes: string[];
}

interface Code {
	grant: Grant;
	redirectUri: string;
	/** The PKCE code challenge, method S256. */
	challenge: string;
	expiresAt: number;
	isUsed: boolean;
}

/** Grants and their authorization codes. Times are in milliseconds since 1970. */
export class Grants {
	private readonly statements;

	constructor(database: DatabaseSync) {
		this.statements = statementsOf(database, `
			CREATE TABLE IF NOT EXISTS oauth_grants (
				grant_id TEXT PRIMARY KEY, scopes TEXT NOT NULL, created_at REAL NOT NULL,
				client_id TEXT NOT NULL REFERENCES oauth_clients ON DELETE CASCADE,
				user_id TEXT NOT NULL REFERENCES members ON DELETE CASCADE
			);
			CREATE TABLE IF NOT EXISTS oauth_codes (
				hash BLOB PRIMARY KEY, redirect_uri TEXT NOT NULL, challenge TEXT NOT NULL,
				expires_at REAL NOT NULL, is_used INTEGER NOT NULL DEFAULT 0,
				grant_id TEXT NOT NULL REFERENCES oauth_grants ON DELETE CASCADE
			);
			CREATE INDEX IF NOT EXISTS oauth_grants_by_user ON oauth_grants (user_id);
			CREATE INDEX IF NOT EXISTS oauth_grants_by_client ON oauth_grants (client_id);
			CREATE INDEX IF NOT EXISTS oauth_codes_by_grant ON oauth_codes (grant_id);
		`, {
			insert: `
				INSERT INTO oauth_grants (grant_id, client_id, user_id, scopes, created_at)
				VALUES (?, ?, ?, ?, ?)
			`,
			select: 'SELECT * FROM oauth_grants WHERE grant_id = ?',
			insertCode: `
				INSERT INTO oauth_codes (hash, grant_id, redirect_uri, challenge, expires_at)
				VALUES (?, ?, ?, ?, ?)
			`,
			selectCode: 'SELECT * FROM oauth_codes JOIN oauth_grants USING (grant_id) WHERE hash = ?',
			useCode: 'UPDATE oauth_codes SET is_used = 1 WHERE hash = ?',
			dropUnused: `
				DELETE FROM oauth_grants WHERE grant_id IN
					(SELECT grant_id FROM oauth_codes WHERE is_used = 0 AND expires_at <= ?)
			`,
			delete: 'DELETE FROM oauth_grants WHERE grant_id = ?',
			deleteOfUser: 'DELETE FROM oauth_grants WHERE user_id = ?',
			ofClient: 'SELECT grant_id FROM oauth_grants WHERE client_id = ?',
		});
	}

	/** @returns the authorization code that is exchanged for the grant's tokens */
	add(grant: Grant, code: Pick<Code, 'redirectUri' | 'challenge' | 'expiresAt'>, now: number): string {
		this.statements.dropUnused.run(now);
		const secret = newSecret('crm_code');
		const { id, clientId, userId, scopes } = grant;
		this.statements.insert.run(id, clientId, userId, scopes.join(' '), now);
		const { redirectUri, challenge, expiresAt } = code;
		this.statements.insertCode.run(hashOf(secret), id, redirectUri, challenge, expiresAt);
		return secret;
	}

	/** Undefined once it is revoked. */
	find(id: string): Grant | undefined {
		const row = this.statements.select.get(id);
		return row && grantOf(row);
	}

	/** Finds a code, even if it is used or expired, while its grant exists. */
	findCode(code: string): Code | undefined {
		const row = this.statements.selectCode.get(hashOf(code));
		return (
			row && {
				grant: grantOf(row),
				redirectUri: row['redirect_uri'] as string,
				challenge: row['challenge'] as string,
				expiresAt: row['expires_at'] as number,
				isUsed: row['is_used'] === 1,
			}
		);
	}

	markUsed(code: string): void {
		this.statements.useCode.run(hashOf(code));
	}

	/** Revokes a grant with its codes and tokens; `revokeGrant` deletes its subscriptions too. */
	revoke(id: string): void {
		this.statements.delete.run(id);
	}

	/** Revokes all grants of a user. */
	revokeOfUser(userId: string): void {
		this.statements.deleteOfUser.run(userId);
	}

	/** The ids of a client's grants. */
	ofClient(clientId: string): string[] {
		return this.statements.ofClient.all(clientId).map((row) => row['grant_id'] as string);
	}
}

/** @param row with the columns of `oauth_grants` */
export const grantOf = (row: Record<string, unknown>): Grant => ({
	id: row['grant_id'] as string,
	clientId: row['client_id'] as string,
	userId: row['user_id'] as string,
	scopes: scopesOf(row['scopes']),
});

export const scopesOf = (cell: unknown): string[] => (cell as string).split(' ');
