import type { Connection } from '../../../nodes/CrmPlatform/api/connection';
import type { CrmEvent } from '../../../nodes/CrmPlatform/api/event';
import { matchesEventPattern } from '../../../nodes/CrmPlatform/api/event';
import { eventIdentity, type EventLog } from '../../../nodes/CrmPlatform/trigger/eventLog';
import type { ModelClock } from './clock.ts';

interface Entry {
	event: CrmEvent;
	/** When the service shows it: sequences are assigned before the commit. */
	visible: number;
}

/** The service as a trigger sees it: an event log, with answers that are late, behind or missing. */
export class ModelService {
	/** Milliseconds that every other answer is behind. */
	lag = 0;
	/** What it answers beside the log. */
	api: Partial<Connection> = {};
	/** So many answers fail. */
	failures = 0;
	/** All events that ever were, those that a restore has taken back included. */
	readonly all: CrmEvent[] = [];
	private entries: Entry[] = [];
	private sequence = 0;
	private answers = 0;

	private readonly clock: ModelClock;

	constructor(clock: ModelClock) {
		this.clock = clock;
	}

	happen(type: string, record: string, late = 0, id = `e${this.all.length + 1}`): void {
		const now = this.clock.now();
		this.sequence += 1;
		const event: CrmEvent = {
			id,
			type,
			timestamp: new Date(now).toISOString(),
			sequence: this.sequence,
			account_id: 'account',
			request: null,
			data: { object: { id: record }, previous: null, changed: [] },
		};
		this.all.push(event);
		this.entries.push({ event, visible: now + late });
	}

	/** Goes on from a backup that lacks the latest events. */
	restore(without: number): void {
		this.entries = this.entries.slice(0, Math.max(1, this.entries.length - without));
		this.sequence = this.entries.at(-1)!.event.sequence;
	}

	/** Whether an event is in the log, and was not taken back. */
	has = ({ id }: CrmEvent): boolean => this.entries.some(({ event }) => event.id === id);

	readonly log: EventLog = {
		newest: async () => {
			const event = this.answer().at(-1);
			return event && { identity: eventIdentity(event), sequence: event.sequence, account: 'account' };
		},
		oldest: async () => this.answer()[0],
		firstSince: async (instant) => this.answer().find(({ timestamp }) => timestamp >= instant),
		after: (sequence, types, limit) => this.list((event) => event.sequence > sequence, types, limit),
		newestFirst: (types) => this.list(() => true, types, Infinity, true),
	};

	private async *list(
		isWanted: (event: CrmEvent) => boolean,
		types: string[],
		limit = Infinity,
		isReverse = false,
	): AsyncGenerator<CrmEvent, void> {
		const isChosen = ({ type }: CrmEvent) => types.length === 0 || types.some((one) => matchesEventPattern(one, type));
		const events = this.answer().filter((event) => isWanted(event) && isChosen(event));
		yield* (isReverse ? events.reverse() : events).slice(0, limit);
	}

	/** The log as one answer shows it. */
	private answer(): CrmEvent[] {
		if (this.failures > 0) {
			this.failures -= 1;
			throw new Error('The service does not answer');
		}
		this.answers += 1;
		const until = this.clock.now() - (this.answers % 2 === 0 ? this.lag : 0);
		return this.entries.filter(({ visible }) => visible <= until).map(({ event }) => event);
	}
}
