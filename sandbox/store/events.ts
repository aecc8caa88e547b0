import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Cell } from './columns.ts';
import type { Condition } from './condition.ts';

/** For how long events can be read. */
export const eventsAreKeptMs = 30 * 24 * 60 * 60 * 1000;

/** The request that caused an event, as Stripe's events name it. */
export interface RequestOrigin {
	/** The value of its X-Request-Id. */
	id: string;
	idempotency_key: string | null;
}

/** What has happened to a record. */
export interface NewEvent {
	id: string;
	type: string;
	/** The instant, RFC 3339. */
	timestamp: string;
	/** The name of the record's resource. */
	resource: string;
	/** The user who alone sees the record, beside administrators; empty if every user does. */
	seenBy: string;
	actor: { type: string; id: string };
	/** Null if no request caused it. */
	request: RequestOrigin | null;
	/** What is told of it, as JSON. */
	data: string;
}

export interface StoredEvent extends NewEvent {
	/** Counts all events of the account, in the order in which they happened. */
	sequence: number;
}

/** The log of events. It is written with the change that it tells of, in one transaction. */
export class Events {
	private readonly database: DatabaseSync;
	private readonly statements: Record<'insert' | 'expire' | 'find', StatementSync>;
	/** What holds for every event that can be read here. */
	private readonly visible: Condition[] = [];

	constructor(database: DatabaseSync) {
		this.database = database;
		// AUTOINCREMENT, so that no number comes twice when the last event has expired.
		database.exec(`
			CREATE TABLE IF NOT EXISTS events (
				sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
				created_at TEXT NOT NULL, resource TEXT NOT NULL, seen_by TEXT NOT NULL,
				actor TEXT NOT NULL, data TEXT NOT NULL, request TEXT NOT NULL
			);
			CREATE INDEX IF NOT EXISTS events_by_created_at ON events (created_at);
		`);
		addRequestColumn(database);
		this.statements = {
			insert: database.prepare(`
				INSERT INTO events (id, type, created_at, resource, seen_by, actor, data, request)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			`),
			expire: database.prepare('DELETE FROM events WHERE created_at <= ?'),
			find: database.prepare('SELECT * FROM events WHERE sequence = ?'),
		};
	}

	/** The log with only what a user may see: what happened to records that they saw then. */
	seenBy(userId: string): Events {
		const visible = [{ sql: "seen_by IN ('', ?)", values: [userId] }];
		return Object.create(this, { visible: { value: visible } }) as Events;
	}

	/** Call it in the transaction of the change. */
	add(event: NewEvent): StoredEvent {
		const { id, type, timestamp, resource, seenBy, data } = event;
		const [actor, request] = [JSON.stringify(event.actor), JSON.stringify(event.request)];
		const values = [id, type, timestamp, resource, seenBy, actor, data, request];
		const { lastInsertRowid } = this.statements.insert.run(...values);
		return { ...event, sequence: Number(lastInsertRowid) };
	}

	/** Forgets what is older than the log goes back. */
	expire(now: number): void {
		this.statements.expire.run(new Date(now - eventsAreKeptMs).toISOString());
	}

	/** Whoever may see it. */
	find(sequence: number): StoredEvent {
		return eventOf(this.statements.find.get(sequence)!);
	}

	/** In sequence, or the newest first. */
	page(conditions: Condition[], limit: number, descending = false): StoredEvent[] {
		const { sql, values } = all([...conditions, ...this.visible]);
		const direction = descending ? 'DESC' : 'ASC';
		return this.database
			.prepare(`SELECT * FROM events WHERE ${sql} ORDER BY sequence ${direction} LIMIT ?`)
			.all(...values, limit)
			.map(eventOf);
	}

	count(conditions: Condition[]): number {
		const { sql, values } = all([...conditions, ...this.visible]);
		const row = this.database.prepare(`SELECT count(*) AS total FROM events WHERE ${sql}`);
		return row.get(...values)!['total'] as number;
	}
}

/** For files written before events carried their request. */
function addRequestColumn(database: DatabaseSync): void {
	const columns = database.prepare('PRAGMA table_info(events)').all();
	if (columns.some(({ name }) => name === 'request')) return;
	database.exec("ALTER TABLE events ADD COLUMN request TEXT NOT NULL DEFAULT 'null'");
}

function all(conditions: Condition[]): { sql: string; values: Cell[] } {
	const sql = conditions.map((condition) => `(${condition.sql})`).join(' AND ') || 'true';
	return { sql, values: conditions.flatMap(({ values }) => values) };
}

const eventOf = (row: Record<string, unknown>): StoredEvent => ({
	sequence: row['sequence'] as number,
	id: row['id'] as string,
	type: row['type'] as string,
	timestamp: row['created_at'] as string,
	resource: row['resource'] as string,
	seenBy: row['seen_by'] as string,
	actor: JSON.parse(row['actor'] as string) as StoredEvent['actor'],
	request: JSON.parse(row['request'] as string) as StoredEvent['request'],
	data: row['data'] as string,
});
