import type { DatabaseSync } from 'node:sqlite';
import type { Actor, RequestOrigin } from '../../schemas/origin.ts';
import { type Audience, parseAudience } from './audience.ts';
import { allOf, type Condition, isIn } from '../records/condition.ts';
import { pageOf } from '../threads/page-rows.ts';
import type { Query, Row } from '../threads/query.ts';
import type { BackgroundReader } from '../threads/background-reader.ts';

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
	protected readonly reader: BackgroundReader;
	/** Conditions that hold for every event that this reader finds. */
	private readonly visible: readonly Condition[];

	constructor(database: DatabaseSync, reader: BackgroundReader, visible: readonly Condition[]) {
		this.database = database;
		this.reader = reader;
		this.visible = visible;
	}

	/** Reads events in sequence. */
	page(conditions: Condition[], limit: number): StoredEvent[] {
		const { sql, values } = this.pageQuery(conditions, limit, 'ASC');
		return this.database.prepare(sql).all(...values).map(eventOf);
	}

	/** Reads the newest events that fit a page, without blocking other requests. */
	async newest(conditions: Condition[], limit: number): Promise<EventPage> {
		const [rows] = await this.reader.read([this.pageQuery(conditions, limit + 1, 'DESC')]);
		return eventsOf(rows!, limit);
	}

	/** Whether all events of a page may be read. */
	sees({ events }: EventPage): boolean {
		const sequences = JSON.stringify(events.map(({ sequence }) => sequence));
		const { sql, values } = allOf([isIn('sequence', sequences), ...this.visible]);
		const row = this.database.prepare(`SELECT count(*) AS count FROM events WHERE ${sql}`).get(...values);
		return row!['count'] === events.length;
	}

	/** Reads the positions of events in sequence, which is faster than reading the events. */
	sequences(conditions: Condition[], limit: number): number[] {
		const { sql, values } = allOf([...conditions, ...this.visible]);
		const statement = `SELECT sequence FROM events WHERE ${sql} ORDER BY sequence LIMIT ?`;
		return this.database.prepare(statement).all(...values, limit).map((row) => Number(row['sequence']));
	}

	/**
	 * Reads a page, and counts all events that meet the conditions, without blocking other requests.
	 *
	 * @param cursorConditions excludes the events of earlier pages
	 */
	async list(
		conditions: Condition[],
		cursorConditions: Condition[],
		limit: number,
		descending: boolean,
	): Promise<EventPage & { total: number }> {
		const { sql, values } = allOf([...conditions, ...this.visible]);
		const count = { sql: `SELECT count(*) AS total FROM events WHERE ${sql}`, values };
		const page = this.pageQuery([...conditions, ...cursorConditions], limit + 1, descending ? 'DESC' : 'ASC');
		const [rows, countRows] = await this.reader.read([page, count]);
		return { ...eventsOf(rows!, limit), total: countRows![0]!['total'] as number };
	}

	private pageQuery(conditions: Condition[], limit: number, direction: 'ASC' | 'DESC'): Query {
		const { sql, values } = allOf([...conditions, ...this.visible]);
		return {
			sql: `SELECT * FROM events WHERE ${sql} ORDER BY sequence ${direction} LIMIT ?`,
			values: [...values, limit],
			isPage: true,
		};
	}
}

interface EventPage {
	events: StoredEvent[];
	/** Whether further events follow. */
	hasMore: boolean;
}

function eventsOf(rows: Row[], limit: number): EventPage {
	const { page, hasMore } = pageOf(rows, limit);
	return { events: page.map(eventOf), hasMore };
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
