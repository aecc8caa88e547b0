import type { IDataObject } from 'n8n-workflow';

import { chunks } from '../../base/lists';
import type { CrmEvent } from '../../log/crmEvent';
import { eventIdentity } from '../../log/eventLog';
import { isAnsweredWith } from '../../api/record';
import { refusedCursor } from '../../api/http/statuses';
import { groupOfEvents, groupOfRecords, identitiesOf } from './group';
import type { FoundEvent, LogFollower } from './logFollower';
import type { Backfill, Group, Position } from './position';
import type { RecordReader } from './records';

interface SourceOptions {
	follower: LogFollower;
	/** Maximum number of events or records in a group. */
	size: number;
	/** The reader of the records; absent for events. */
	records?: RecordReader | undefined;
	/** Tells the user that events may be missing. */
	report(message: string): void;
}

/** Page size of a backfill; constant, since some services bind a cursor to the page size. */
const backfillPage = 100;

/** Reads new groups from the service. */
export class GroupReader {
	/** Events of open groups, by identity, so that a group just read is not read again. */
	readonly events = new Map<string, CrmEvent>();
	/** Items of groups of a backfill, by name, so that they are not read again. Changes meanwhile are reported by later events. */
	readonly pages = new Map<string, IDataObject[]>();

	private readonly options: SourceOptions;

	constructor(options: SourceOptions) {
		this.options = options;
	}

	/**
	 * Reads groups. Opens them and moves the position past them in one step, since the position may be stored
	 * at any time.
	 *
	 * @param limit maximum number of groups
	 * @param isCanceled whether the reading is no longer wanted; the position then stays
	 */
	async read(position: Position, limit: number, isCanceled: () => boolean): Promise<Group[]> {
		const { records, follower, size, report } = this.options;
		if (position.backfill && records) return await this.readRecords(position, position.backfill, records, isCanceled);
		const { found, notice } = await follower.read(position, limit * size, isCanceled);
		if (notice !== undefined) report(notice);
		return this.openGroups(found, position);
	}

	private openGroups(found: FoundEvent[], position: Position): Group[] {
		// Other triggers share the event, and an execution may change its input.
		for (const { event } of found) this.events.set(eventIdentity(event), structuredClone(event));
		// A new beginning may re-read open groups.
		const isOpen = new Set(position.open.map(({ name }) => name));
		const groups = this.grouped(found, position).filter(({ name }) => !isOpen.has(name));
		position.open.push(...groups);
		const openIdentities = new Set(position.open.flatMap(identitiesOf));
		for (const identity of this.events.keys()) if (!openIdentities.has(identity)) this.events.delete(identity);
		return groups;
	}

	private grouped(found: FoundEvent[], position: Position): Group[] {
		const shapes = [...new Set(found.map(({ choice }) => choice.shape))];
		return shapes.flatMap((shape) => {
			const events = found.flatMap(({ event, choice }) => (choice.shape === shape ? [event] : []));
			return chunks(events, this.options.size).map((part) => groupOfEvents(part, position, shape));
		});
	}

	private async readRecords(
		position: Position,
		backfill: Backfill,
		records: RecordReader,
		isCanceled: () => boolean,
	): Promise<Group[]> {
		const size = Math.max(this.options.size, backfillPage);
		const { cursor, last, begun, until, reread = '' } = backfill;
		let { from } = backfill;
		const page = await records.page({ cursor, from }, size).catch(async (error: unknown) => {
			if (!isAnsweredWith(error, ...refusedCursor) || cursor === '') throw error;
			// The cursor has expired; the last record read shows its position.
			from = last?.created;
			return await records.page({ cursor: '', from }, size);
		});
		if (isCanceled()) return [];
		const wasGiven = new Set(last?.ids);
		const older = page.records.filter((record) => !records.isNewerThan(until, record));
		const found = older.filter(({ id }) => !wasGiven.has(String(id)));
		const reached = records.lastOf(older) ?? last;
		// Records of one batch share an instant, over several pages.
		if (reached && reached.created === last?.created) reached.ids = [...new Set([...last.ids, ...reached.ids])];
		const isLastPage = page.next === undefined || older.length < page.records.length;
		position.backfill = isLastPage ? undefined : { ...backfill, cursor: page.next!, last: reached, from };
		const isOpen = new Set(position.open.map(({ name }) => name));
		const groups = chunks(found, this.options.size).flatMap((part) => {
			const created = records.lastOf(part)?.created;
			const group = groupOfRecords(part, position, begun, created !== undefined && created <= reread);
			// A new scope may re-read open groups.
			if (isOpen.has(group.name)) return [];
			this.pages.set(group.name, records.asExisting(part));
			return group;
		});
		position.open.push(...groups);
		return groups;
	}
}
