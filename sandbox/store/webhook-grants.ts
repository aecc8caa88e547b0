import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { scopesOf } from './grants.ts';

/** The permission of a subscription made with an access token. */
export interface WebhookGrant {
	grantId: string;
	/** The scopes of the access token that chose the events. */
	scopes: string[];
}

/** The grants of subscriptions made with access tokens. Subscriptions made with API keys have none. */
export class WebhookGrants {
	private readonly statements: Record<
		'insert' | 'choose' | 'select' | 'ofGrant' | 'drop',
		StatementSync
	>;

	constructor(database: DatabaseSync) {
		// No foreign key to grants: subscriptions of a deactivated user outlive the grant, paused.
		database.exec(`
			CREATE TABLE IF NOT EXISTS webhook_grants (
				webhook_id TEXT PRIMARY KEY, grant_id TEXT NOT NULL, scopes TEXT NOT NULL
			);
			CREATE INDEX IF NOT EXISTS webhook_grants_by_grant ON webhook_grants (grant_id);
		`);
		this.statements = {
			insert: database.prepare('INSERT INTO webhook_grants VALUES (?, ?, ?)'),
			choose: database.prepare('UPDATE webhook_grants SET scopes = ? WHERE webhook_id = ?'),
			select: database.prepare('SELECT * FROM webhook_grants WHERE webhook_id = ?'),
			ofGrant: database.prepare('SELECT webhook_id FROM webhook_grants WHERE grant_id = ?'),
			drop: database.prepare('DELETE FROM webhook_grants WHERE webhook_id = ?'),
		};
	}

	/** Records the grant that a subscription was made with. */
	add(webhookId: string, { grantId, scopes }: WebhookGrant): void {
		this.statements.insert.run(webhookId, grantId, scopes.join(' '));
	}

	/** Updates the scopes after the events of a subscription were changed. */
	choose(webhookId: string, scopes: string[]): void {
		this.statements.choose.run(scopes.join(' '), webhookId);
	}

	find(webhookId: string): WebhookGrant | undefined {
		const row = this.statements.select.get(webhookId);
		return row && { grantId: row['grant_id'] as string, scopes: scopesOf(row['scopes']) };
	}

	/** The ids of the subscriptions made with a grant. */
	ofGrant(grantId: string): string[] {
		return this.statements.ofGrant.all(grantId).map((row) => row['webhook_id'] as string);
	}

	drop(webhookId: string): void {
		this.statements.drop.run(webhookId);
	}
}
