import type { DatabaseSync } from 'node:sqlite';
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
		database.exec(`
			CREATE TABLE IF NOT EXISTS begun_with (
				id TEXT PRIMARY KEY, grant_id TEXT NOT NULL, scopes TEXT NOT NULL
			);
			CREATE INDEX IF NOT EXISTS begun_with_by_grant ON begun_with (grant_id);
		`);
		this.statements = {
			set: database.prepare('INSERT OR REPLACE INTO begun_with VALUES (?, ?, ?)'),
			select: database.prepare('SELECT * FROM begun_with WHERE id = ?'),
			ofGrant: database.prepare('SELECT id FROM begun_with WHERE grant_id = ?'),
			drop: database.prepare('DELETE FROM begun_with WHERE id = ?'),
		};
	}

	set(id: string, { grantId, scopes }: TokenGrant): void {
		this.statements.set.run(id, grantId, scopes.join(' '));
	}

	find(id: string): TokenGrant | undefined {
		const row = this.statements.select.get(id);
		return row && { grantId: row['grant_id'] as string, scopes: scopesOf(row['scopes']) };
	}

	/** The ids of the jobs and subscriptions created with a grant. */
	ofGrant(grantId: string): string[] {
		return this.statements.ofGrant.all(grantId).map((row) => row['id'] as string);
	}

	drop(id: string): void {
		this.statements.drop.run(id);
	}
}
