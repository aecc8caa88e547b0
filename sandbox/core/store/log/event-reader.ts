import type { DatabaseSync } from 'node:sqlite';
import type { Actor, RequestOrigin } from '../../schemas/origin.ts';
import { type Audience, parseAudience } from './audience.ts';
import { allOf, type Condition } from '../records/condition.ts';

/** An event before the log assigns its sequence number. */
export interface NewEvent {
	id: string;
	type: string;
	/** The instant, RFC 3339. */
	timestamp: string;
	/** The name of the record's resource. */
	resource: string;
	recordId: string;
	/** The users who receive it. */
	audience: Audience;
	/**
	 * Whether administrators and API keys receive it too. They do not if only some users gain or lose
	 * sight of a record: for the account, the record was neither created nor deleted.
	 */
	isForAccount: boolean;
	actor: Actor;
	/** Null if no request caused it. */
	request: RequestOrigin | null;
	/** The payload, as JSON. */
	data: string;
}

export interface StoredEvent extends NewEvent {
	/** The position in the event log; later events have higher numbers. */
	sequence: number;
}

/** Reads the events that match the conditions of a view, such as those that a user may read. */
export class EventReader {
	protected readonly database: DatabaseSync;
	/** Conditions that hold for every event that this reader finds. */
	private readonly visible: readonly Condition[];

	constructor(database: DatabaseSync, visible: readonly Condition[]) {
		this.database = database;
		this.visible = visible;
	}

	/** Reads events in sequence, or the newest first. */
	page(conditions: Condition[], limit: number, descending = false): StoredEvent[] {
		const { sql, values } = allOf([...conditions, ...this.visible]);
		const order = descending ? 'DESC' : 'ASC';
		return this.database
			.prepare(`SELECT * FROM events WHERE ${sql} ORDER BY sequence ${order} LIMIT ?`)
			.all(...values, limit)
			.map(eventOf);
	}

	/** Reads the positions of events in sequence, which is faster than reading the events. */
	sequences(conditions: Condition[], limit: number): number[] {
		const { sql, values } = allOf([...conditions, ...this.visible]);
		const statement = `SELECT sequence FROM events WHERE ${sql} ORDER BY sequence LIMIT ?`;
		return this.database.prepare(statement).all(...values, limit).map((row) => Number(row['sequence']));
	}

	/** Counts all events that meet the conditions. */
	count(conditions: Condition[]): number {
		const { sql, values } = allOf([...conditions, ...this.visible]);
		return this.database.prepare(`SELECT count(*) AS total FROM events WHERE ${sql}`).get(...values)!['total'] as number;
	}
}

/** @param row of the table `events` */
export const eventOf = (row: Record<string, unknown>): StoredEvent => ({
	sequence: row['sequence'] as number,
	id: row['id'] as string,
	type: row['type'] as string,
	timestamp: row['created_at'] as string,
	resource: row['resource'] as string,
	recordId: row['record_id'] as string,
	audience: parseAudience(row['seen_by'] as string),
	isForAccount: row['is_for_account'] === 1,
	actor: JSON.parse(row['actor'] as string) as StoredEvent['actor'],
	request: JSON.parse(row['request'] as string) as StoredEvent['request'],
	data: row['data'] as string,
});
