import type { Connection } from '../../api/connection';
import type { Clock } from '../../base/clock';
import { chunks } from '../../base/lists';
import { type Loaded, loadGroup } from './loadGroup';
import { type Access, type GroupReading, LogFollower } from './logFollower';
import { type Ledger, type OpenGroup, roomForGroups } from './openGroups';
import type { PollChoice } from './pollProperties';
import { type Backfill, groupOfRecords, type Position } from './position';
import type { RecordReader } from './records';

/** Milliseconds for which the names of linked records are remembered. */
const maxNameAge = 60_000;

/** Reads groups with one credential: those of existing records first, then those of new events. */
export class GroupReader {
	readonly api: Connection;
	/** When the credential was last known to be the current one (Unix epoch ms). */
	checkedAt: number;
	isReading = false;
	private readonly access: Access;
	private readonly choice: PollChoice;
	private readonly clock: Clock;
	private readonly follower: LogFollower;
	/** When to read next (Unix epoch ms). */
	private nextRead = -Infinity;
	/** The connection by which names are looked up and remembered, and since when (Unix epoch ms). */
	private names: { api: Connection; since: number };

	constructor(access: Access, choice: PollChoice, clock: Clock) {
		this.api = access.api;
		this.checkedAt = clock.now();
		this.access = access;
		this.choice = choice;
		this.clock = clock;
		this.follower = new LogFollower(access, clock, choice.interval / 2);
		this.names = { api: access.api, since: -Infinity };
	}

	/**
	 * Reads new groups, if it is time to and there is room for them.
	 *
	 * @param progress of the trigger, which changes meanwhile
	 */
	async read(progress: { position: Position; ledger: Ledger }): Promise<GroupReading | undefined> {
		const { clock, choice: { groupSize, interval } } = this;
		const { position, position: { backfill } } = progress;
		const room = roomForGroups(progress.ledger, clock.now(), groupSize);
		if (backfill) this.nextRead = Math.max(this.nextRead, backfill.ready);
		if (room <= 0 || clock.now() < this.nextRead) return undefined;
		this.isReading = true;
		const reading = await this.readGroups(position, room).finally(() => (this.isReading = false));
		// A new beginning or scope may re-read open groups.
		const open = new Set(progress.ledger.open.map(({ group }) => group.name));
		const groups = reading.groups.filter(({ group }) => !open.has(group.name));
		const hasMore = backfill !== undefined || groups.length >= room;
		// All triggers with this interval look at the same time.
		this.nextRead = hasMore ? -Infinity : clock.now() + interval - (clock.now() % interval);
		return { ...reading, groups };
	}

	private async readGroups(position: Position, room: number): Promise<GroupReading> {
		const { access: { records }, choice: { groupSize } } = this;
		const { backfill } = position;
		if (backfill && records) return await readBackfill(records, position, backfill, groupSize);
		return await this.follower.read(position, room * groupSize, groupSize);
	}

	/** When to read next, or to see whether there is room (Unix epoch ms). */
	nextLook(ledger: Ledger): number {
		const { choice: { groupSize, interval } } = this;
		const now = this.clock.now();
		return roomForGroups(ledger, now, groupSize) > 0 ? this.nextRead : now + interval;
	}

	/** Reads the items of a group. */
	async load(group: OpenGroup): Promise<Loaded> {
		const { access: { api, log, records }, choice: { events: { output } }, clock } = this;
		// A connection remembers names, which may change.
		if (clock.now() - this.names.since > maxNameAge) this.names = { api: { ...api }, since: clock.now() };
		return await loadGroup(group, { api, names: this.names.api, log, records, output });
	}
}

/** Page size of a backfill, at least. */
const backfillPage = 100;

/** Reads the next records of a backfill. */
async function readBackfill(records: RecordReader, position: Position, backfill: Backfill, groupSize: number): Promise<GroupReading> {
	const { records: found, last } = await records.next(backfill, Math.max(groupSize, backfillPage));
	return {
		moved: { backfill: last && { ...backfill, last } },
		groups: chunks(found, groupSize).map((members) => ({ group: groupOfRecords(members, position, backfill), input: records.asExisting(members) })),
	};
}
