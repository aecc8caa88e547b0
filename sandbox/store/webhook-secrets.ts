import { randomBytes } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** As long as idempotency keys: until then the answer that showed one is repeated with it. */
const replacedAreKeptMs = 24 * 60 * 60 * 1000;

/**
 * The secrets that deliveries are signed with. They are kept as they are, because a signature by
 * HMAC cannot be made from a hash. Times are in milliseconds since 1970.
 */
export class WebhookSecrets {
	private readonly statements: Record<
		'insert' | 'select' | 'find' | 'end' | 'retire' | 'forget' | 'drop',
		StatementSync
	>;

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
			find: database.prepare(
				'SELECT secret FROM webhook_secrets WHERE webhook_id = ? AND rowid = ?',
			),
			end: database.prepare(`
				UPDATE webhook_secrets SET expires_at = ? WHERE webhook_id = ? AND expires_at > ?
			`),
			forget: database.prepare('DELETE FROM webhook_secrets WHERE expires_at <= ?'),
			retire: database.prepare(`
				UPDATE webhook_secrets SET expires_at = ? WHERE webhook_id = ? AND expires_at IS NULL
			`),
			drop: database.prepare('DELETE FROM webhook_secrets WHERE webhook_id = ?'),
		};
	}

	/**
	 * Makes `secret` the one to use. The one before stays good until `expiresAt`, those before that one
	 * are good no longer: at most two secrets sign, however often they are rotated.
	 *
	 * @returns what `find` finds it by
	 */
	set(webhookId: string, secret: string, now: number, expiresAt = now): number {
		this.statements.forget.run(now - replacedAreKeptMs);
		this.statements.end.run(now, webhookId, now);
		this.statements.retire.run(expiresAt, webhookId);
		return Number(this.statements.insert.run(webhookId, secret, now).lastInsertRowid);
	}

	/** Replaced ones too, for as long as an answer with one of them may be repeated. */
	find(webhookId: string, id: number): string | undefined {
		return this.statements.find.get(webhookId, id)?.['secret'] as string | undefined;
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
