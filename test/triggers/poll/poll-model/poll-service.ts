import type { Connection } from '../../../../nodes/CrmPlatform/api/connection';
import type { CrmEvent } from '../../../../nodes/CrmPlatform/log/crmEvent';
import { matchesEventPattern } from '../../../../nodes/CrmPlatform/log/crmEvent';
import { eventIdentity, type EventLog } from '../../../../nodes/CrmPlatform/log/eventLog';
import type { Query } from '../../../../nodes/CrmPlatform/api/http/path';
import { httpError } from '../../../http/http-error.ts';
import type { SimulatedClock } from '../../../../bench/scale/clock.ts';
import { pageOf, type ModelRecord } from './records.ts';

interface Entry {
	event: CrmEvent;
	/** When the service shows it: the log is in commit order, so a late event holds up those after it. */
	visible: number;
}

/** The service as a trigger sees it: an event log, with answers that are late, behind or missing. */
export class PollModelService {
	/** Milliseconds that every other answer is behind. */
	lag = 0;
	/** Its other answers. */
	api: Partial<Connection> = {};
	/** How many responses fail: refused with a status, cut off, or missing. */
	failures = 0;
	failure: Failure = 'none';
	/** How many cursors of lists expire. */
	cursorsExpire = 0;
	readonly records = new Map<string, ModelRecord>();
	/** The states of each record, and since when (Unix epoch ms). */
	private readonly history = new Map<string, Array<{ at: number; record: ModelRecord | undefined }>>();
	/** How many records of each slot were deleted: an ID is assigned once. */
	private readonly deleted = new Map<string, number>();
	/** IDs of records that were committed later than the time of their event. */
	readonly late = new Set<string>();
	/** All events, including those that a restore has removed. */
	readonly all: CrmEvent[] = [];
	private entries: Entry[] = [];
	private sequence = 0;
	/** How many requests it has answered. */
	answers = 0;

	readonly clock: SimulatedClock;

	constructor(clock: SimulatedClock) {
		this.clock = clock;
	}

	/** IDs that a restored service assigns again. */
	private free: string[] = [];

	happen(type: string, record: string, late = 0, id = this.free.shift() ?? `e${this.all.length + 1}`, data = dataOf(record)): void {
		const now = this.clock.now();
		this.sequence += 1;
		const event: CrmEvent = {
			id,
			type,
			timestamp: new Date(now).toISOString(),
			sequence: this.sequence,
			account_id: 'account',
			request: null,
			data,
		};
		this.all.push(event);
		this.entries.push({ event, visible: Math.max(now + late, this.entries.at(-1)?.visible ?? 0) });
	}

	/** Creates, changes or deletes a record, together with its event. */
	write(slot: string, stage: string, late = 0): void {
		const id = `${slot}x${this.deleted.get(slot) ?? 0}`;
		const existingRecord = this.records.get(id);
		if (stage === '' && !existingRecord) return;
		const created_at = existingRecord?.created_at ?? new Date(this.clock.now()).toISOString();
		const object = {
			id,
			created_at,
			updated_at: new Date(this.clock.now()).toISOString(),
			stage: stage === '' ? existingRecord!.stage : stage,
			revision: (existingRecord?.revision ?? 0) + 1,
		};
		const previous = existingRecord && stage !== '' ? { stage: existingRecord.stage, updated_at: existingRecord.updated_at } : null;
		if (stage === '') this.deleted.set(slot, (this.deleted.get(slot) ?? 0) + 1);
		const change = stage === '' ? 'deleted' : existingRecord ? 'updated' : 'created';
		this.happen(`p.${change}`, id, late, undefined, { object: { ...object }, previous, changed: ['stage'] });
		const { visible } = this.entries.at(-1)!;
		if (visible > this.clock.now()) this.late.add(id);
		// The record is committed with its event.
		this.put(id, stage === '' ? undefined : object, visible);
	}

	/** Continues from a backup that lacks the latest events. */
	restore(without: number, givesAgain = false): void {
		const left = Math.max(1, this.entries.length - without);
		const gone = this.entries.slice(left).map(({ event }) => event);
		this.entries = this.entries.slice(0, left);
		this.sequence = this.entries.at(-1)!.event.sequence;
		if (givesAgain) this.free = gone.map(({ id }) => id);
		for (const { type, data } of gone.reverse()) {
			const { id } = data.object as unknown as ModelRecord;
			if (!type.startsWith('p.')) continue;
			this.put(id, type === 'p.created' ? undefined : { ...(data.object as unknown as ModelRecord), ...data.previous });
		}
	}

	private put(id: string, record: ModelRecord | undefined, at = this.clock.now()): void {
		if (record) this.records.set(id, record);
		else this.records.delete(id);
		this.history.set(id, [...(this.history.get(id) ?? []), { at, record }]);
	}

	/** Whether an event is in the log: a restore may have removed it. */
	has = (event: CrmEvent): boolean => this.entries.some((entry) => entry.event === event);

	/** A page of records as they are now. */
	page = (query: Query): ReturnType<typeof pageOf> => {
		this.fail();
		this.answers += 1;
		const until = this.clock.now() - (this.answers % 2 === 0 ? this.lag : 0);
		const records = [...this.history.values()].flatMap((states) => states.findLast(({ at }) => at <= until)?.record ?? []);
		if (query.cursor !== undefined && this.cursorsExpire > 0) {
			this.cursorsExpire -= 1;
			throw httpError('410');
		}
		return JSON.parse(JSON.stringify(pageOf(records, query))) as ReturnType<typeof pageOf>;
	};

	readonly log: EventLog = {
		newest: async () => {
			const event = this.answer().at(-1);
			return event && { identity: eventIdentity(event), timestamp: event.timestamp, sequence: event.sequence, account: 'account' };
		},
		oldest: async () => this.answer()[0],
		firstSince: async (instant) => this.answer().find(({ timestamp }) => timestamp >= instant),
		after: (sequence, types, limit) => this.list((event) => event.sequence > sequence, types, limit),
		newestFirst: (types) => this.list(() => true, types, Infinity, true),
		allAfter: (sequence) => this.list((event) => event.sequence > sequence, []),
		newestCauses: (limit) => this.list(() => true, [], limit, true),
	};

	private async *list(
		isWanted: (event: CrmEvent) => boolean,
		types: string[],
		limit = Infinity,
		isReverse = false,
	): AsyncGenerator<CrmEvent, void> {
		const isCut = this.failure === 'cut' && this.failures > 0;
		if (isCut) this.failures -= 1;
		const isChosen = ({ type }: CrmEvent) => types.length === 0 || types.some((pattern) => matchesEventPattern(pattern, type));
		const events = this.answer().filter((event) => isWanted(event) && isChosen(event));
		const answered = (isReverse ? events.reverse() : events).slice(0, limit);
		yield* isCut ? answered.slice(0, 2) : answered;
		if (isCut) throw new Error('The answer was cut off');
	}

	/** The log as one answer shows it. */
	private answer(): CrmEvent[] {
		this.fail();
		this.answers += 1;
		const until = this.clock.now() - (this.answers % 2 === 0 ? this.lag : 0);
		return this.entries.filter(({ visible }) => visible <= until).map(({ event }) => event);
	}

	private fail(): void {
		if (this.failures === 0 || this.failure === 'cut') return;
		this.failures -= 1;
		throw this.failure === 'none' ? new Error('The CRM does not answer') : httpError(this.failure);
	}
}

export type Failure = 'none' | 'cut' | '400' | '403' | '404' | '410' | '422' | '500';

const dataOf = (id: string): CrmEvent['data'] => ({ object: { id }, previous: null, changed: [] });
