import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { rowsOf, statementsOf } from '../statements.ts';

/**
 * The signing secrets of subscriptions. They are stored in plain text, because an HMAC cannot be
 * computed from a hash. Times are in milliseconds since 1970.
 */
export class WebhookSecrets {
	private readonly statements;

	constructor(database: DatabaseSync) {
		this.statements = statementsOf(database, `
			CREATE TABLE IF NOT EXISTS webhook_secrets (
				webhook_id TEXT NOT NULL, secret TEXT NOT NULL, created_at REAL NOT NULL, expires_at REAL
			);
			CREATE INDEX IF NOT EXISTS webhook_secrets_by_webhook ON webhook_secrets (webhook_id);
		`, {
			insert: 'INSERT INTO webhook_secrets VALUES (?, ?, ?, NULL)',
			select: `
				SELECT secret FROM webhook_secrets
				WHERE webhook_id = ? AND (expires_at IS NULL OR expires_at > ?)
				ORDER BY created_at DESC, rowid DESC
			`,
			forget: 'DELETE FROM webhook_secrets WHERE webhook_id = ? AND expires_at IS NOT NULL',
			retire: 'UPDATE webhook_secrets SET expires_at = ? WHERE webhook_id = ?',
			drop: 'DELETE FROM webhook_secrets WHERE webhook_id = ?',
		});
	}

	/**
	 * Makes `secret` the current one. The previous one stays valid until `expiresAt`, and older ones
	 * expire at once: at most two secrets sign, however often they are rotated.
	 */
	set(webhookId: string, secret: string, now: number, expiresAt = now): void {
		this.statements.forget.run(webhookId);
		this.statements.retire.run(expiresAt, webhookId);
		this.statements.insert.run(webhookId, secret, now);
	}

	/** Lists the valid secrets, newest first. */
	list(webhookId: string, now: number): string[] {
		return rowsOf<{ secret: string }>(this.statements.select, webhookId, now).map(({ secret }) => secret);
	}

	drop(webhookId: string): void {
		this.statements.drop.run(webhookId);
	}
}

/** Generates 32 random bytes in the format of Standard Webhooks 1.0.0. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
