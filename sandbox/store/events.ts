import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Audience, audienceText, heardBy, parseAudience } from './audience.ts';
import type { Cell } from './columns.ts';
import type { Condition } from './condition.ts';
import { addMissingColumns } from './missing-columns.ts';
import type { Query } from './query.ts';
import type { Reader } from './reader.ts';

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
	/** The users whom it is told. */
	audience: Audience;
	/**
	 * Whether administrators and API keys are told as well. They are not where only some users begin
	 * or cease to see a record: for the account it was neither created nor deleted.
	 */
	isForAccount: boolean;
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
	private readonly reader: Reader;
	private readonly statements: Record<'insert' | 'expire' | 'find', StatementSync>;
	private readonly expiry = { doneFor: -1 };
	/** What holds for every event that can be read here. */
	private readonly visible: Condition[] = [{ sql: 'is_for_account = 1', values: [] }];

	constructor(database: DatabaseSync, reader: Reader) {
		this.database = database;
		this.reader = reader;
		// AUTOINCREMENT, so that no number comes twice when the last event has expired.
		database.exec(`
			CREATE TABLE IF NOT EXISTS events (
				sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
				created_at TEXT NOT NULL, resource TEXT NOT NULL, seen_by TEXT NOT NULL,
				actor TEXT NOT NULL, data TEXT NOT NULL, request TEXT NOT NULL
			);
			CREATE INDEX IF NOT EXISTS events_by_created_at ON events (created_at);
		`);
		addMissingColumns(database, 'events', {
			is_for_account: 'INTEGER NOT NULL DEFAULT 1',
			request: "TEXT NOT NULL DEFAULT 'null'",
		});
		this.statements = {
			insert: database.prepare(`
				INSERT INTO events (id, type, created_at, resource, seen_by, actor, data, is_for_account, request)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
			`),
			expire: database.prepare('DELETE FROM events WHERE created_at <= ?'),
			find: database.prepare('SELECT * FROM events WHERE sequence = ?'),
		};
	}

	/** The log with only what a user may see: what happened to records that they saw then. */
	seenBy(userId: string): Events {
		const visible = [heardBy(userId)];
		return Object.create(this, { visible: { value: visible } }) as Events;
	}

	/** Call it in the transaction of the change. */
	add(event: NewEvent): StoredEvent {
		const { id, type, timestamp, resource, audience, actor, data, isForAccount, request } = event;
		const about = [id, type, timestamp, resource, audienceText(audience)];
		const { lastInsertRowid } = this.statements.insert.run(
			...about,
			JSON.stringify(actor),
			data,
			Number(isForAccount),
			JSON.stringify(request),
		);
		return { ...event, sequence: Number(lastInsertRowid) };
	}

	/** The instant of the newest event; empty if there are none. */
	lastInstant(): string {
		const row = this.database.prepare('SELECT max(created_at) AS value FROM events').get()!;
		return (row['value'] as string | null) ?? '';
	}

	/** Forgets what is older than the log goes back. */
	expire(now: number): void {
		// A batch writes many events at one instant.
		if (now === this.expiry.doneFor) return;
		this.expiry.doneFor = now;
		this.statements.expire.run(new Date(now - eventsAreKeptMs).toISOString());
	}

	/** Whoever may see it. */
	find(sequence: number): StoredEvent {
		return eventOf(this.statements.find.get(sequence)!);
	}

	/** In sequence, or the newest first. */
	page(conditions: Condition[], limit: number, descending = false): StoredEvent[] {
		const { sql, values } = this.pageQuery(conditions, limit, descending);
		return this.database
			.prepare(sql)
			.all(...values)
			.map(eventOf);
	}

	/**
	 * A page, and the number of all events for which the conditions hold. Other requests are answered
	 * meanwhile, as the log may be long.
	 *
	 * @param beyond keeps out what came on earlier pages
	 */
	async list(
		conditions: Condition[],
		beyond: Condition[],
		limit: number,
		descending: boolean,
	): Promise<{ events: StoredEvent[]; total: number }> {
		const { sql, values } = all([...conditions, ...this.visible]);
		const count = { sql: `SELECT count(*) AS total FROM events WHERE ${sql}`, values };
		const page = this.pageQuery([...conditions, ...beyond], limit, descending);
		const [rows, counted] = await this.reader.read([page, count]);
		return { events: rows!.map(eventOf), total: counted![0]!['total'] as number };
	}

	private pageQuery(conditions: Condition[], limit: number, descending: boolean): Query {
		const { sql, values } = all([...conditions, ...this.visible]);
		const direction = descending ? 'DESC' : 'ASC';
		return {
			sql: `SELECT * FROM events WHERE ${sql} ORDER BY sequence ${direction} LIMIT ?`,
			values: [...values, limit],
		};
	}
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
	audience: parseAudience(row['seen_by'] as string),
	isForAccount: row['is_for_account'] === 1,
	actor: JSON.parse(row['actor'] as string) as StoredEvent['actor'],
	request: JSON.parse(row['request'] as string) as StoredEvent['request'],
	data: row['data'] as string,
});
