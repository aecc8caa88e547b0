import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Attempt, Delivery } from '../schemas/webhook-deliveries.ts';

type Statement = 'insert' | 'requeue' | 'find' | 'save' | 'due' | 'failPending' | 'drop';

/** The deliveries of events, those to come and those that were; they go with their events. */
export class Deliveries {
	/** Called when there is something to deliver, inside the transaction. */
	onQueued: () => void = () => undefined;
	private readonly database: DatabaseSync;
	private readonly statements: Record<Statement, StatementSync>;

	constructor(database: DatabaseSync) {
		this.database = database;
		database.exec(`
			CREATE TABLE IF NOT EXISTS deliveries (
				id TEXT PRIMARY KEY, webhook_id TEXT NOT NULL,
				sequence INTEGER NOT NULL REFERENCES events ON DELETE CASCADE,
				status TEXT NOT NULL, is_recovered INTEGER NOT NULL, next_attempt_at REAL,
				created_at REAL NOT NULL, attempts TEXT NOT NULL
			);
			CREATE UNIQUE INDEX IF NOT EXISTS deliveries_by_event ON deliveries (sequence, webhook_id);
			CREATE INDEX IF NOT EXISTS deliveries_by_webhook ON deliveries (webhook_id, id);
			CREATE INDEX IF NOT EXISTS deliveries_pending ON deliveries (webhook_id, is_recovered, sequence)
				WHERE status = 'pending';
		`);
		const select = `
			SELECT deliveries.*, events.id AS event_id, events.type AS event_type
			FROM deliveries JOIN events USING (sequence)
		`;
		this.statements = {
			insert: database.prepare(
				"INSERT INTO deliveries VALUES (?, ?, ?, 'pending', ?, ?, ?, '[]')",
			),
			requeue: database.prepare(`
				INSERT INTO deliveries VALUES (?, ?, ?, 'pending', 1, ?, ?, '[]')
				ON CONFLICT (sequence, webhook_id) DO UPDATE SET
					status = 'pending', is_recovered = 1, next_attempt_at = excluded.next_attempt_at
				WHERE status = 'failed'
					OR status = 'pending' AND attempts <> '[]' AND next_attempt_at > excluded.next_attempt_at
			`),
			find: database.prepare(`${select} WHERE deliveries.id = ? AND webhook_id = ?`),
			save: database.prepare(`
				UPDATE deliveries SET status = ?, next_attempt_at = ?, attempts = ? WHERE id = ?
			`),
			due: database.prepare(`
				${select} WHERE webhook_id = ? AND status = 'pending' AND is_recovered = ?
				AND next_attempt_at <= ? ORDER BY sequence LIMIT ?
			`),
			failPending: database.prepare(`
				UPDATE deliveries SET status = 'failed', next_attempt_at = NULL
				WHERE webhook_id = ? AND status = 'pending'
			`),
			drop: database.prepare('DELETE FROM deliveries WHERE webhook_id = ?'),
		};
	}

	/**
	 * Call it in the transaction of the event.
	 *
	 * @param nextAttemptAt null if it is not sent by itself
	 */
	add(id: string, webhookId: string, sequence: number, now: number, nextAttemptAt: number | null): void {
		this.statements.insert.run(id, webhookId, sequence, 0, nextAttemptAt, now);
		if (nextAttemptAt !== null) this.onQueued();
	}

	/**
	 * Has an event sent that a subscription has not got and is not about to get: one that waits for
	 * another try need not wait any longer.
	 *
	 * @returns whether there was anything to do
	 */
	recover(id: string, webhookId: string, sequence: number, now: number): boolean {
		const { changes } = this.statements.requeue.run(id, webhookId, sequence, now, now);
		if (changes > 0) this.onQueued();
		return changes > 0;
	}

	find(webhookId: string, id: string): Delivery | undefined {
		const row = this.statements.find.get(id, webhookId);
		return row && deliveryOf(row);
	}

	/** Keeps what has become of it. */
	save({ id, status, nextAttemptAt, attempts }: Delivery): void {
		this.statements.save.run(status, nextAttemptAt, JSON.stringify(attempts), id);
		if (nextAttemptAt !== null) this.onQueued();
	}

	/** What is to be sent to a subscription by now, in sequence. */
	due(webhookId: string, isRecovered: boolean, now: number, limit: number): Delivery[] {
		return this.statements.due.all(webhookId, Number(isRecovered), now, limit).map(deliveryOf);
	}

	/** Gives up what waits for a subscription. */
	failPending(webhookId: string): void {
		this.statements.failPending.run(webhookId);
	}

	drop(webhookId: string): void {
		this.statements.drop.run(webhookId);
	}

	/** The newest first. */
	page(webhookId: string, statuses: string[], before: string | undefined, limit: number): Delivery[] {
		const { sql, values } = ofWebhook(webhookId, statuses);
		const after = before === undefined ? '' : 'AND deliveries.id < ?';
		return this.database
			.prepare(`
				SELECT deliveries.*, events.id AS event_id, events.type AS event_type
				FROM deliveries JOIN events USING (sequence)
				WHERE ${sql} ${after} ORDER BY deliveries.id DESC LIMIT ?
			`)
			.all(...values, ...(before === undefined ? [] : [before]), limit)
			.map(deliveryOf);
	}

	count(webhookId: string, statuses: string[]): number {
		const { sql, values } = ofWebhook(webhookId, statuses);
		const row = this.database.prepare(`SELECT count(*) AS total FROM deliveries WHERE ${sql}`);
		return row.get(...values)!['total'] as number;
	}
}

const ofWebhook = (webhookId: string, statuses: string[]) => ({
	sql: `webhook_id = ? AND status IN (${statuses.map(() => '?').join()})`,
	values: [webhookId, ...statuses],
});

const deliveryOf = (row: Record<string, unknown>): Delivery => ({
	id: row['id'] as string,
	webhookId: row['webhook_id'] as string,
	sequence: row['sequence'] as number,
	eventId: row['event_id'] as string,
	eventType: row['event_type'] as string,
	status: row['status'] as Delivery['status'],
	isRecovered: row['is_recovered'] === 1,
	nextAttemptAt: row['next_attempt_at'] as number | null,
	createdAt: row['created_at'] as number,
	attempts: JSON.parse(row['attempts'] as string) as Attempt[],
});
