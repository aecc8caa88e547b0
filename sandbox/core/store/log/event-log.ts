import type { DatabaseSync } from 'node:sqlite';
import { statementsOf } from '../statements.ts';
import { audienceText, audienceIncludes } from './audience.ts';
import { EventReader, eventOf, type NewEvent, type StoredEvent } from './event-reader.ts';
import { createdVia, applicationResources, type Viewer } from '../visibility/visibility.ts';

/** How long the log keeps events. */
export const eventsAreKeptMs = 30 * 24 * 60 * 60 * 1000;

/** Selects the events that administrators and API keys receive. */
const forAccount = { sql: 'is_for_account = 1', values: [] as string[] };

/** The data of the events of an erased record, as JSON. */
export const erasedData = (id: string): string => JSON.stringify({ object: { id }, erased: true });

/** The log of events. An event is appended in the transaction of the change that it reports. */
export class EventLog extends EventReader {
	private readonly statements;
	/** The instant of the last expiry: a batch writes many events at one instant. */
	private expiredAt = -1;

	constructor(database: DatabaseSync) {
		super(database, [forAccount]);
		// AUTOINCREMENT, so that no number is reused after the last event has expired.
		// The data comes last, so that scanning the columns before it does not touch it.
		this.statements = statementsOf(database, `
			CREATE TABLE IF NOT EXISTS events (
				sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
				created_at TEXT NOT NULL, resource TEXT NOT NULL, record_id TEXT NOT NULL,
				seen_by TEXT NOT NULL, is_for_account INTEGER NOT NULL, actor TEXT NOT NULL,
				request TEXT NOT NULL, data TEXT NOT NULL
			);
			CREATE INDEX IF NOT EXISTS events_by_created_at ON events (created_at);
			CREATE INDEX IF NOT EXISTS events_for_account ON events (is_for_account);
			CREATE INDEX IF NOT EXISTS events_by_record ON events (record_id, sequence);
		`, {
			insert: `
				INSERT INTO events
					(id, type, created_at, resource, record_id, seen_by, actor, data, is_for_account, request)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			`,
			expire: 'DELETE FROM events WHERE created_at <= ?',
			find: 'SELECT * FROM events WHERE sequence = ?',
			erase: 'UPDATE events SET data = ? WHERE record_id = ?',
		});
	}

	/** A view of the log with the events that a user received: those of records visible to the user at that time. */
	readableBy({ caller, seesAll, application }: Viewer): EventReader {
		const conditions = [seesAll ? forAccount : audienceIncludes(caller.id)];
		if (application !== undefined) {
			const { sql, values } = createdVia(caller, application, 'data', '$.object');
			conditions.push({ sql: `resource NOT IN ('${applicationResources.join("','")}') OR (${sql})`, values });
		}
		return new EventReader(this.database, conditions);
	}

	/** Appends an event. Call it in the transaction of the change. */
	add(event: NewEvent): StoredEvent {
		const { id, type, timestamp, resource, recordId, actor, data, isForAccount, request } = event;
		const { lastInsertRowid } = this.statements.insert.run(
			id,
			type,
			timestamp,
			resource,
			recordId,
			audienceText(event.audience),
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

	/** Deletes events that are older than `eventsAreKeptMs`. */
	expire(now: number): void {
		if (now === this.expiredAt) return;
		this.expiredAt = now;
		this.statements.expire.run(new Date(now - eventsAreKeptMs).toISOString());
	}

	/** Removes the values of a record from its events, which keep their place. */
	erase(recordId: string): void {
		this.statements.erase.run(erasedData(recordId), recordId);
	}

	/** Finds an event without regard to its audience. */
	find(sequence: number): StoredEvent {
		return eventOf(this.statements.find.get(sequence)!);
	}
}
