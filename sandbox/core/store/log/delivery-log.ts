import type { DatabaseSync } from 'node:sqlite';
import { statementsOf } from '../statements.ts';
import type { Attempt, Delivery } from '../../schemas/webhooks.ts';

/** The deliveries of events, pending and past. They are deleted with their events. */
export class DeliveryLog {
	/** Called inside the transaction when a delivery is queued. */
	onQueued: () => void = () => undefined;
	private readonly database: DatabaseSync;
	private readonly statements;

	constructor(database: DatabaseSync) {
		this.database = database;
		this.statements = statementsOf(database, `
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
		`, {
			insert: "INSERT INTO deliveries VALUES (?, ?, ?, 'pending', ?, ?, ?, '[]')",
			requeue: `
				INSERT INTO deliveries VALUES (?, ?, ?, 'pending', 1, ?, ?, '[]')
				ON CONFLICT (sequence, webhook_id) DO UPDATE SET
					status = 'pending', is_recovered = 1, next_attempt_at = excluded.next_attempt_at
				WHERE status = 'failed'
					OR status = 'pending' AND attempts <> '[]' AND next_attempt_at > excluded.next_attempt_at
			`,
			find: `${select} WHERE deliveries.id = ? AND webhook_id = ?`,
			save: `
				UPDATE deliveries SET status = ?, next_attempt_at = ?, attempts = ? WHERE id = ?
			`,
			due: `
				${select} WHERE webhook_id = ? AND status = 'pending' AND is_recovered = ?
				AND next_attempt_at <= ? ORDER BY sequence LIMIT ?
			`,
			failPending: `
				UPDATE deliveries SET status = 'failed', next_attempt_at = NULL
				WHERE webhook_id = ? AND status = 'pending'
			`,
			drop: 'DELETE FROM deliveries WHERE webhook_id = ?',
		});
	}

	/**
	 * Adds a delivery. Call it in the transaction of the event.
	 *
	 * @param nextAttemptAt null if the delivery is not sent automatically
	 */
	add(id: string, webhookId: string, sequence: number, now: number, nextAttemptAt: number | null): void {
		this.statements.insert.run(id, webhookId, sequence, 0, nextAttemptAt, now);
		if (nextAttemptAt !== null) this.onQueued();
	}

	/**
	 * Queues an event that a subscription has not received and is not about to receive. A delivery that
	 * waits for a retry is sent at once.
	 *
	 * @returns whether anything was queued
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

	/** Saves the outcome of a delivery. */
	save({ id, status, nextAttemptAt, attempts }: Delivery): void {
		this.statements.save.run(status, nextAttemptAt, JSON.stringify(attempts), id);
		if (nextAttemptAt !== null) this.onQueued();
	}

	/** The deliveries of a subscription that are due, in sequence. */
	due(webhookId: string, isRecovered: boolean, now: number, limit: number): Delivery[] {
		return this.statements.due.all(webhookId, Number(isRecovered), now, limit).map(deliveryOf);
	}

	/** Marks the pending deliveries of a subscription as failed. */
	failPending(webhookId: string): void {
		this.statements.failPending.run(webhookId);
	}

	drop(webhookId: string): void {
		this.statements.drop.run(webhookId);
	}

	/** Reads a page of deliveries, newest first, and counts all. */
	list(webhookId: string, statuses: readonly string[], before: string | undefined, limit: number) {
		const values = [webhookId, ...statuses];
		const where = `webhook_id = ? AND status IN (${statuses.map(() => '?').join()})`;
		const after = before === undefined ? '' : 'AND deliveries.id < ?';
		const rows = this.database
			.prepare(`${select} WHERE ${where} ${after} ORDER BY deliveries.id DESC LIMIT ?`)
			.all(...values, ...(before === undefined ? [] : [before]), limit + 1);
		const count = this.database.prepare(`SELECT count(*) AS total FROM deliveries WHERE ${where}`).get(...values);
		const total = count!['total'] as number;
		return { deliveries: rows.slice(0, limit).map(deliveryOf), hasMore: rows.length > limit, total };
	}

	/** The deliveries of some events, to all subscriptions. */
	ofEvents(sequences: number[]): Delivery[] {
		return this.database
			.prepare(`
				${select}
				WHERE sequence IN (${sequences.map(() => '?').join()}) ORDER BY deliveries.id
			`)
			.all(...sequences)
			.map(deliveryOf);
	}
}

const select = `
	SELECT deliveries.*, events.id AS event_id, events.type AS event_type
	FROM deliveries JOIN events USING (sequence)
`;

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
