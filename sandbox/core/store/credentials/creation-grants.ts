import type { DatabaseSync } from 'node:sqlite';
import { rowOf, rowsOf, statementsOf } from '../statements.ts';
import { scopesOf } from './grants.ts';

/** The permission that an access token had: its grant and its scopes. */
export interface TokenGrant {
	grantId: string;
	scopes: string[];
}

/** The grant with which each job and subscription was created. Jobs and subscriptions of API keys have none. */
export class CreationGrants {
	private readonly statements;

	constructor(database: DatabaseSync) {
		// No foreign key to grants: subscriptions of a deactivated user outlive the grant, paused.
		const tables = `
			CREATE TABLE IF NOT EXISTS begun_with (id TEXT PRIMARY KEY, grant_id TEXT NOT NULL, scopes TEXT NOT NULL);
			CREATE INDEX IF NOT EXISTS begun_with_by_grant ON begun_with (grant_id);
		`;
		this.statements = statementsOf(database, tables, {
			set: 'INSERT OR REPLACE INTO begun_with VALUES (?, ?, ?)',
			select: 'SELECT grant_id AS grantId, scopes FROM begun_with WHERE id = ?',
			ofGrant: 'SELECT id FROM begun_with WHERE grant_id = ?',
			drop: 'DELETE FROM begun_with WHERE id = ?',
		});
	}

	set(id: string, { grantId, scopes }: TokenGrant): void {
		this.statements.set.run(id, grantId, scopes.join(' '));
	}

	find(id: string): TokenGrant | undefined {
		const row = rowOf<{ grantId: string; scopes: string }>(this.statements.select, id);
		return row && { ...row, scopes: scopesOf(row.scopes) };
	}

	/** The ids of the jobs and subscriptions created with a grant. */
	ofGrant(grantId: string): string[] {
		return rowsOf<{ id: string }>(this.statements.ofGrant, grantId).map(({ id }) => id);
	}

	drop(id: string): void {
		this.statements.drop.run(id);
	}
}
