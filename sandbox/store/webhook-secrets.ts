import { randomBytes } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/**
 * The secrets that deliveries are signed with. They are kept as they are, because a signature by
 * HMAC cannot be made from a hash. Times are in milliseconds since 1970.
 */
export class WebhookSecrets {
	private readonly statements: Record<'insert' | 'select' | 'retire' | 'drop', StatementSync>;

	constructor(database: DatabaseSync) {
		database.exec(`
			CREATE TABLE IF NOT EXISTS webhook_secrets (
				webhook_id TEXT NOT NULL, secret TEXT NOT NULL, created_at REAL NOT NULL, expires_at REAL
			);
			CREATE INDEX IF NOT EXISTS webhook_secrets_by_webhook ON webhook_secrets (webhook_id);
		`);
		this.statements = {
			insert: database.prepare('INSERT INTO webhook_secrets VALUES (?, ?, ?, NULL)'),
			select: database.prepare(`
				SELECT secret FROM webhook_secrets
				WHERE webhook_id = ? AND (expires_at IS NULL OR expires_at > ?)
				ORDER BY created_at DESC, rowid DESC
			`),
			retire: database.prepare(`
				UPDATE webhook_secrets SET expires_at = ? WHERE webhook_id = ? AND expires_at IS NULL
			`),
			drop: database.prepare('DELETE FROM webhook_secrets WHERE webhook_id = ?'),
		};
	}

	/** Makes `secret` the one to use; the one before stays good until `expiresAt`. */
	set(webhookId: string, secret: string, now: number, expiresAt = now): void {
		this.statements.retire.run(expiresAt, webhookId);
		this.statements.insert.run(webhookId, secret, now);
	}

	/** Those that are good now, the newest first. */
	list(webhookId: string, now: number): string[] {
		return this.statements.select.all(webhookId, now).map((row) => row['secret'] as string);
	}

	drop(webhookId: string): void {
		this.statements.drop.run(webhookId);
	}
}

/** 32 random bytes, written as Standard Webhooks 1.0.0 says. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
