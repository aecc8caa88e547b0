import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import type { Clock } from '../../base/clock';
import { causeOf, noOrigin } from '../../log/cause';
import type { CrmEvent } from '../../log/crmEvent';
import { eventIdentity, type EventLog, type Newest, type Share, unshared } from '../../log/eventLog';
import {
	type Backfill, type Choice, choiceFor, type Group, groupOfEvents, groupOfRecords, identitiesOf, maxLag, type Position, typesToRead,
} from './position';
import { chunks } from '../../base/lists';
import { ruleBroken } from '../../api/http/rules';
import type { RecordReader } from './records';

/** The newest event, when it was requested (Unix epoch ms), and the queries that follow, which triggers share. */
interface Look {
	newest: Newest | undefined;
	at: number;
	share: Share;
}

/** An event to start, and the choice that includes it. */
export interface FoundEvent {
	event: CrmEvent;
	choice: Choice;
}

interface FollowerOptions {
	api: Connection;
	log: EventLog;
	clock: Clock;
	/** Maximum age (ms) of a look that another trigger of this process has made. */
	maxAge: number;
}

/** Maximum number of events per reading, filtered ones included. */
const maxRead = 10_000;

/** Maximum lag, in sequence numbers, of a trigger that shares events with others: shared events stay in memory until the next look. */
const maxShared = 1_000;

/**
 * Follows the event log from a position on. The log is in commit order, so all that is new is above the position. A
 * replica may lag, but leaves nothing out before its end.
 */
export class LogFollower {
	private readonly options: FollowerOptions;
	/** A newest event, and when it was first seen (Unix epoch ms). After `maxLag`, every replica shows it. */
	private mark: { sequence: number; since: number } | undefined;
	/** When the log was first seen to end before an event that is known (Unix epoch ms). */
	private shortSince: number | undefined;

	constructor(options: FollowerOptions) {
		this.options = options;
	}

	/**
	 * Reads what is new, and moves the position past it. Both happen in one step at the end, since the position may be
	 * stored at any time.
	 *
	 * @param limit maximum number of events to start
	 * @param isCanceled whether the reading is no longer wanted; the position then stays
	 * @returns the events to start, and what to tell the user
	 */
	async read(position: Position, limit: number, isCanceled: () => boolean): Promise<{ found: FoundEvent[]; notice?: string }> {
		const { api, log, clock, maxAge } = this.options;
		const look = await sharedLook(api.view, maxAge, clock, async () => await log.newest());
		const { newest } = look;
		// The events of an empty log have expired.
		if (!newest || isCanceled()) return { found: [] };
		const isNear = newest.sequence - position.sequence <= maxShared;
		const share = isNear ? look.share : unshared;
		const continues = await this.continues(position, look, share);
		if (continues === 'unknown' || isCanceled()) return { found: [] };
		const notice = continues === 'no' ? await this.beginOtherLog(position, newest) : undefined;
		if (isCanceled()) return { found: [] };
		const found = newest.sequence > position.sequence ? await this.readEvents(position, look, limit, share, isCanceled) : [];
		return notice === undefined ? { found } : { found, notice };
	}

	/** Whether the log is the one of the position, judging by the newest event that is known. */
	private async continues({ newest: newestRead }: Position, { newest, at }: Look, share: Share): Promise<'yes' | 'no' | 'unknown'> {
		if (!newestRead || newest!.identity === newestRead.identity) this.shortSince = undefined;
		else if (newest!.sequence < newestRead.sequence) {
			this.shortSince ??= at;
			return at - this.shortSince >= maxLag ? 'no' : 'unknown';
		} else {
			this.shortSince = undefined;
			const { value: event } = await this.options.log.after(newestRead.sequence - 1, [], 1, share).next();
			// An event that has expired, or that this user does not see, tells nothing.
			if (!event) return 'unknown';
			if (event.sequence === newestRead.sequence && eventIdentity(event) !== newestRead.identity) return 'no';
		}
		return 'yes';
	}

	/** Continues in a restored log with what has happened since the newest event that was known. */
	private async beginOtherLog(position: Position, newest: Newest): Promise<string> {
		// Older events of the same instant were read.
		const since = new Date(Date.parse(position.newest!.timestamp) + 1).toISOString();
		const first = await this.options.log.firstSince(since);
		const sequence = Math.min(position.sequence, first ? first.sequence - 1 : newest.sequence);
		Object.assign(position, { sequence, newest: markOf(newest), replaced: [] });
		Object.assign(this, { mark: undefined, shortSince: undefined });
		return otherLog(since);
	}

	private async readEvents(position: Position, look: Look, limit: number, share: Share, isCanceled: () => boolean): Promise<FoundEvent[]> {
		const { api, log, clock } = this.options;
		const completeUpTo = this.completeUpTo(look);
		const found: FoundEvent[] = [];
		let last: CrmEvent | undefined;
		let read = 0;
		let isWhole = true;
		for await (const event of log.after(position.sequence, typesToRead(position), undefined, share)) {
			if (!causeOf(event).isReported && position.choice.filter.ignored?.keys.length) api.notices.add(noOrigin);
			const choice = choiceFor(position, event);
			if (choice) found.push({ event, choice });
			last = event;
			isWhole = found.length < limit && ++read < maxRead;
			if (!isWhole) break;
		}
		if (isCanceled()) return [];
		position.sequence = Math.max(position.sequence, last?.sequence ?? 0, isWhole ? completeUpTo : 0);
		position.replaced = position.replaced.filter(({ lastPossiblyBefore }) => lastPossiblyBefore > position.sequence);
		const lastRead = last && { identity: eventIdentity(last), sequence: last.sequence, timestamp: last.timestamp };
		for (const event of [look.newest, lastRead]) {
			if (event && event.sequence > (position.newest?.sequence ?? 0)) position.newest = markOf(event);
		}
		position.at = new Date(clock.now()).toISOString();
		return found;
	}

	/** The sequence up to which every replica shows the log. */
	private completeUpTo({ newest, at }: Look): number {
		const { sequence, since } = this.mark ?? { sequence: 0, since: -Infinity };
		if (at - since < maxLag) return 0;
		this.mark = { sequence: newest!.sequence, since: at };
		return sequence;
	}
}

const markOf = ({ identity, sequence, timestamp }: NonNullable<Position['newest']>) => ({ identity, sequence, timestamp });

const otherLog = (since: string): string =>
	`The event log no longer has what this trigger has read: the CRM may have been restored from a backup or reset, or the credential may see less than before. The trigger continues with the events since ${since}. Events that the CRM has lost are missing`;

/** The latest look at each log, per group of users who see the same events. */
const looks = new Map<string, { at: number; newest: Promise<Newest | undefined>; share: Share }>();

/** How long (ms) to keep a look that no trigger replaces: the longest interval. */
const maxTimeKept = 24 * 60 * 60_000;

/** Clears the memory of this process, as a restart would. */
export const forgetLooks = (): void => looks.clear();

/**
 * Looks for the newest event of a log, once for all triggers that look at about the same time: fifty idle
 * triggers cost no more than one.
 *
 * @param view equal for credentials that see the same events
 * @param maxAge maximum age of an answer in milliseconds
 */
export async function sharedLook(
	view: string,
	maxAge: number,
	clock: Clock,
	newest: () => Promise<Newest | undefined>,
): Promise<Look> {
	const cachedLook = looks.get(view);
	const now = clock.now();
	const isFresh = cachedLook !== undefined && now >= cachedLook.at && now - cachedLook.at < maxAge;
	const look = isFresh ? cachedLook : { at: now, newest: newest(), share: sharing() };
	for (const [other, { at }] of looks) if (now - at > maxTimeKept) looks.delete(other);
	looks.set(view, look);
	// After a failure, the next caller queries the service.
	look.newest.catch(() => (looks.get(view) === look ? looks.delete(view) : undefined));
	return { at: look.at, newest: await look.newest, share: look.share };
}

/** Shares queries that were made since a look. A failure affects only the triggers that were waiting for the query. */
function sharing(): Share {
	const answers = new Map<string, Promise<unknown>>();
	return async <Answer>(question: string, ask: () => Promise<Answer>) => {
		let answer = answers.get(question) as Promise<Answer> | undefined;
		if (!answer) {
			answer = ask();
			answers.set(question, answer);
			answer.catch(() => answers.delete(question));
		}
		return await answer;
	};
}

/** Milliseconds until all triggers with this interval look again, at the same time. */
export const untilNextLook = (interval: number, now: number): number => interval - (now % interval);

interface SourceOptions {
	follower: LogFollower;
	/** Maximum number of events or records in a group. */
	size: number;
	/** The reader of the records; absent for events. */
	records?: RecordReader | undefined;
	/** Tells the user that events may be missing. */
	report(message: string): void;
}

/** Page size of a backfill, at least. */
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
		const { last, begun, until, reread = '' } = backfill;
		const page = await records.page(last, size);
		if (isCanceled()) return [];
		const found = page.records.filter((record) => !records.isNewerThan(until, record));
		const reached = records.lastOf(found);
		// Records of one batch share an instant, over several pages.
		if (reached && reached.created === last?.created) reached.ids.unshift(...last.ids);
		const isLastPage = page.isLast || found.length < page.records.length;
		if (!isLastPage && !reached) throw ruleBroken(11, 'List of the records', 'They have no time of creation.');
		position.backfill = isLastPage ? undefined : { ...backfill, last: reached };
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
