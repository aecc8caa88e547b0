import type { IDataObject } from 'n8n-workflow';

import { chunks } from '../../base/lists';
import type { RecentMap } from '../../base/maps';
import type { Connection } from '../../api/connection';
import type { CrmEvent } from '../../log/crmEvent';
import { unshared, eventIdentity, type EventLog, type Share } from '../../log/eventLog';
import { isAnsweredWith } from '../../api/fetchRecord';
import { refusedCursor } from '../../api/http/statuses';
import { causeOf, noOrigin } from '../../log/cause';
import { groupOfEvents, groupOfRecords, identitiesOf } from './group';
import { LogWatch, noteNewest } from './logWatch';
import {
	advance,
	choiceFor,
	forgetLog,
	overlap,
	typesToRead,
	type Backfill,
	type Choice,
	type Group,
	type Position,
} from './position';
import type { RecordReader } from './records';
import type { SharedLook } from './sharedLook';

interface SourceOptions {
	api: Connection;
	log: EventLog;
	/** The newest event, which another trigger of this process may have just read. */
	look(): Promise<SharedLook>;
	/** Maximum number of events or records in a group. */
	size: number;
	/** The reader of the records; absent for events. */
	records?: RecordReader | undefined;
	/** Identities of the events that this process has read, even if the position does not show it. */
	wasRead: RecentMap<string, true>;
	/** Tells the user that events may be missing. */
	report(message: string): void;
}

/** Maximum number of events per reading, filtered ones included. */
const maxRead = 10_000;

/** Maximum lag, in sequence numbers, of a trigger that shares events with others: shared events stay in memory until the next look. */
const maxShared = 1_000;

/** Page size of a backfill; constant, since some services bind a cursor to the page size. */
const backfillPage = 100;

/** Reads new groups from the service. */
export class ChangeSource {
	/** Events of open groups, by identity, so that a group just read is not read again. */
	readonly events = new Map<string, CrmEvent>();
	/** Items of groups of a backfill, by name, so that they are not read again. Changes meanwhile are reported by later events. */
	readonly pages = new Map<string, IDataObject[]>();

	private readonly options: SourceOptions;
	private readonly watch: LogWatch;

	constructor(options: SourceOptions) {
		this.options = options;
		this.watch = new LogWatch(options.log);
	}

	/**
	 * Reads groups. Opens them and moves the position past them in one step, since the position may be stored
	 * at any time.
	 *
	 * @param limit maximum number of groups
	 * @param isCanceled whether the reading is no longer wanted; the position then stays
	 */
	async read(position: Position, limit: number, now: number, isCanceled: () => boolean): Promise<Group[]> {
		const { records } = this.options;
		if (position.backfill && records) return await this.readRecords(position, position.backfill, records, isCanceled);

		const look = await this.options.look();
		if (isCanceled()) return [];
		const notice = await this.watch.resetIfBehind(position, look, now);
		if (isCanceled()) return [];
		if (notice !== undefined) this.options.report(notice);
		if (!this.watch.hasNews(position, look)) return [];
		return await this.readEvents(position, look, limit, now, isCanceled);
	}

	private async readEvents(
		position: Position,
		look: SharedLook,
		limit: number,
		now: number,
		isCanceled: () => boolean,
	): Promise<Group[]> {
		const { api, log, size, wasRead } = this.options;
		const unseen: CrmEvent[] = [];
		let { sequence: upTo } = position;
		let chosen = 0;
		let isKnownLog = false;
		let isWhole = true;
		const isNear = (look.newest?.sequence ?? 0) - position.sequence <= maxShared;
		const share = isNear ? look.share : unshared;
		// The query does not begin at the floor, so that triggers published at different times share it.
		const above = Math.max(0, position.sequence - overlap);
		const types = typesToRead(position);
		// Triggers share a response only if they have read the same events before.
		const readBefore = `${above} ${types.join()} ${unseen.length} ${unseen.at(-1)?.id}`;
		const afterwards: Share = async (question, ask) => await share(`${readBefore} ${question}`, ask);
		for await (const event of log.after(above, types, undefined, share)) {
			if (event.sequence <= position.floor) continue;
			if (eventIdentity(event) in position.seen) {
				isKnownLog = true;
				continue;
			}
			unseen.push(event);
			if (!causeOf(event).isReported && position.choice.filter.ignored?.keys.length) api.notices.add(noOrigin);
			if (choiceFor(position, event)) chosen += 1;
			upTo = Math.max(upTo, event.sequence);
			isWhole = chosen < limit * size && unseen.length < maxRead;
			if (!isWhole) break;
		}
		// The event is late, or belongs to another log.
		const isDoubtful = !isKnownLog || unseen.some(({ sequence }) => sequence <= position.sequence);
		const { isSure, notice } = isDoubtful ? await this.watch.checkSameLog(position, now, afterwards) : { isSure: true };
		if (isCanceled() || !isSure) return [];
		if (notice !== undefined) {
			this.options.report(notice);
			forgetLog(position);
		}
		noteNewest(position, [look.newest, ...unseen.map((event) => ({ identity: eventIdentity(event), sequence: event.sequence }))]);
		const read = Object.fromEntries(unseen.map((event) => [eventIdentity(event), event.sequence]));
		const found = unseen.flatMap((event) => {
			const choice = wasRead.get(eventIdentity(event)) ? undefined : choiceFor(position, event);
			return choice ? [{ event, choice }] : [];
		});
		advance(position, read, Math.max(upTo, isWhole ? this.watch.readUpTo(look) : 0), now);
		if (isWhole) this.watch.wasRead(look);
		return this.openGroups(found, position);
	}

	private openGroups(found: Array<{ event: CrmEvent; choice: Choice }>, position: Position): Group[] {
		for (const { event } of found) {
			// Other triggers share the event, and an execution may change its input.
			this.events.set(eventIdentity(event), structuredClone(event));
			this.options.wasRead.set(eventIdentity(event), true);
		}
		// A new beginning may re-read open groups.
		const isOpen = new Set(position.open.map(({ name }) => name));
		const groups = this.grouped(found, position).filter(({ name }) => !isOpen.has(name));
		position.open.push(...groups);
		const openIdentities = new Set(position.open.flatMap(identitiesOf));
		for (const identity of this.events.keys()) if (!openIdentities.has(identity)) this.events.delete(identity);
		return groups;
	}

	private grouped(found: Array<{ event: CrmEvent; choice: Choice }>, position: Position): Group[] {
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
