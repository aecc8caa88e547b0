import type { Outcome } from './execution';
import type { LoadFailure } from './loadGroup';
import type { ChangeChoice } from './pollProperties';
import { type Group, memberIds, type Position, memberRecords, splitGroup } from './position';

/** A group that waits for its next start or reading. */
interface Wait {
	/** When it may be started next (Unix epoch ms). */
	due: number;
	/** How often its items could not be read. */
	failedReadings: number;
	/** Whether the user knows that it cannot be read. */
	isReported: boolean;
}

/** An execution that n8n was asked to start, and whose outcome is unknown. */
interface Start {
	/** The numbers of its first and of its last emission: each emission of this trigger has a higher one. */
	first: number;
	last: number;
	/** When it was emitted last (Unix epoch ms). */
	at: number;
	/** Whether n8n had been asked to start it before, so that an existing execution may be this one. */
	wasEmitted: boolean;
	/** When n8n first confirmed that its execution has begun (Unix epoch ms). */
	seenAt?: number;
	/** Whether n8n has refused the repeated key: the execution has begun. */
	hasBegun: boolean;
	/** When the outcome of a later start was first known (Unix epoch ms). */
	overtakenAt?: number | undefined;
	/** Whether n8n has lost it, so that it is started again with its key. */
	isLost: boolean;
	isReported: boolean;
}

/** The open groups, and what this process knows about them: it forgets waits and starts when it ends. */
export interface Ledger {
	open: Group[];
	/** By the name of the group. */
	waits: Map<string, Wait>;
	/** The starts under way, by the name of the group. */
	starts: Map<string, Start>;
	/** Whether the user knows that groups cannot be read: all may wait for the same reason. */
	isOutageReported: boolean;
	emissions: number;
	/** When the outcome of a start was last known (Unix epoch ms). */
	lastOutcomeAt: number;
	/** When an execution without items was started (Unix epoch ms). */
	probedAt: number;
}

export const ledgerOf = (open: Group[]): Ledger =>
	({ open, waits: new Map(), starts: new Map(), isOutageReported: false, emissions: 0, lastOutcomeAt: 0, probedAt: -Infinity });

export type LedgerEvent =
	/** n8n has executions of groups that it was asked to start before this opening of the trigger. */
	| { is: 'found'; names: string[] }
	/** A group was read: so many items, but for the failures. */
	| { is: 'loaded'; name: string; items: number; failures: LoadFailure[] }
	/** An emission has ended. @param hasRun whether a node of the execution has run */
	| { is: 'ended'; name: string; emission: number; outcome: Outcome; hasRun: boolean }
	/**
	 * @param onWorkers whether executions run on workers; undefined until the first outcome is known
	 * @param timeout of executions of this workflow (ms); undefined if its settings have none
	 */
	| { is: 'time'; onWorkers: boolean | undefined; timeout: number | undefined; mayProbe: boolean }
	/** n8n was asked whether the execution of a start exists. */
	| { is: 'sought'; name: string; exists: boolean }
	| { is: 'probe ended'; emission: number }
	| { is: 'probe failed' }
	| { is: 'closed'; names: string[] };

export type LedgerEffect =
	| { do: 'emit'; group: Group; emission: number }
	/** Ask n8n for the execution of a start. */
	| { do: 'seek'; group: Group }
	/** Run an execution without items: its end shows where executions run, and overtakes lost starts. */
	| { do: 'probe'; emission: number }
	| { do: 'report set aside'; group: Group; outcome: Outcome }
	| { do: 'report unread'; group: Group; failures: LoadFailure[]; fate: 'waits' | 'set aside' }
	/** Report that n8n has not said for an hour how the execution ended. */
	| { do: 'report silent'; group: Group };

/** What decides beside the ledger and the event. */
type Options = Pick<ChangeChoice, 'doneWhen' | 'attempts' | 'afterCrash'>;
type EventOf<Is extends LedgerEvent['is']> = Extract<LedgerEvent, { is: Is }>;

/** Milliseconds before the second attempt; doubles each time. */
const firstDelay = 5_000;
const maxDelay = 5 * 60_000;
const delayAfter = (tries: number): number => Math.min(firstDelay * 2 ** (tries - 1), maxDelay);

/** Maximum number of executions of a group that n8n ends before they begin. */
const maxUnbegun = 10;

/** Number of reads before a refusal is final. Together, they take longer than a replica may lag. */
const maxRefusals = 4;

/** Milliseconds after which n8n has settled every start that it can. */
const settlingTime = 30_000;

/** Milliseconds without an outcome after which a start may wait for a worker, or be lost. */
const probeAfter = 60_000;

/** Milliseconds between two executions without items. */
const probeInterval = 10 * 60_000;

/** Milliseconds after which an execution that has begun and whose end is unknown is reported to the user. */
const reportAfter = 60 * 60_000;

/** What the ledger becomes with an event, and what is to be done. */
export function nextLedger(ledger: Ledger, event: LedgerEvent, options: Options, now: number): { ledger: Ledger; effects: LedgerEffect[] } {
	const draft = new Draft(ledger, options, now);
	draft.apply(event);
	return { ledger: draft.ledger, effects: draft.effects };
}

/** A copy of the ledger, which an event changes. */
class Draft {
	readonly ledger: Ledger;
	readonly effects: LedgerEffect[] = [];
	private readonly options: Options;
	private readonly now: number;

	constructor(ledger: Ledger, options: Options, now: number) {
		const starts = new Map([...ledger.starts].map(([name, start]) => [name, { ...start }]));
		this.ledger = { ...ledger, waits: new Map(ledger.waits), starts };
		this.options = options;
		this.now = now;
	}

	apply(event: LedgerEvent): void {
		const { ledger } = this;
		if (event.is === 'closed') for (const name of event.names) this.replace(name);
		else if (event.is === 'found') for (const name of event.names) this.settled(this.groupNamed(name)!, 'unknown', true);
		else if (event.is === 'probe ended') this.overtake(event.emission);
		else if (event.is === 'probe failed') ledger.probedAt = -Infinity;
		else if (event.is === 'time') this.check(event);
		else if (event.is === 'sought') this.sought(event);
		else if (event.is === 'ended') this.ended(event);
		else this.loaded(event);
	}

	private groupNamed(name: string): Group | undefined {
		return this.ledger.open.find((group) => group.name === name);
	}

	/** Replaces a group, and ends its wait. */
	private replace(name: string, ...groups: Group[]): void {
		this.ledger.waits.delete(name);
		if (!groups.some((group) => group.name === name)) this.ledger.starts.delete(name);
		this.ledger.open = this.ledger.open.flatMap((group) => (group.name === name ? groups : [group]));
	}

	private wait(name: string, wait: Partial<Wait>): void {
		this.ledger.waits.set(name, { due: 0, failedReadings: 0, isReported: false, ...this.ledger.waits.get(name), ...wait });
	}

	/** Starts what could be read. What the service keeps refusing is set aside; until then, it is postponed. */
	private loaded({ name, items, failures }: EventOf<'loaded'>): void {
		const { ledger, effects, now } = this;
		const group = this.groupNamed(name);
		if (!group) return;
		if (failures.length === 0) {
			ledger.isOutageReported = false;
			return items > 0 ? this.emit(group) : this.replace(name);
		}
		const { failedReadings: before = 0, isReported = false } = ledger.waits.get(name) ?? {};
		const left = memberIds(group).filter((id) => !failures.some(({ ids }) => ids.includes(id)));
		const wait = { failedReadings: before + 1, due: now + delayAfter(before + 1) };
		const isRefused = failures.every(({ isFinal }) => isFinal);
		if (!isRefused && wait.failedReadings >= maxRefusals && !ledger.isOutageReported && !isReported) {
			this.wait(name, { isReported: true });
			ledger.isOutageReported = true;
			effects.push({ do: 'report unread', group, failures, fate: 'waits' });
		}
		// At first a group is read as a whole, then without its unreadable part.
		if (wait.failedReadings < maxRefusals || (left.length === 0 && !isRefused)) return this.wait(name, wait);
		if (left.length === 0) {
			this.replace(name);
			return void effects.push({ do: 'report unread', group, failures, fate: 'set aside' });
		}
		const [rest, ...others] = splitGroup(group, [left, ...failures.map(({ ids }) => ids)]);
		this.replace(name, rest!, ...others);
		for (const other of others) this.wait(other.name, wait);
		this.emit(rest!);
	}

	private emit(group: Group): void {
		const { ledger, now } = this;
		const { name, isEmitted: wasEmitted = false } = group;
		const last = ++ledger.emissions;
		const first: Start = { first: last, last, at: now, wasEmitted, hasBegun: false, isLost: false, isReported: false };
		ledger.starts.set(name, { ...first, ...ledger.starts.get(name), last, at: now, overtakenAt: undefined, isLost: false });
		this.replace(name, { ...group, isEmitted: true });
		this.effects.push({ do: 'emit', group, emission: last });
	}

	/** Of a start that was repeated, the last emission has replaced the one before, unless a node of that has run. */
	private ended({ name, emission, outcome, hasRun }: EventOf<'ended'>): void {
		const { ledger: { starts }, now } = this;
		const start = starts.get(name);
		if (!start || emission < start.first || (emission < start.last && !hasRun)) return;
		const isAnswered = outcome !== 'unknown' && outcome !== 'rejected by n8n';
		if (emission === start.first || isAnswered) return this.settle(name, start, outcome);
		// The key of a repetition is known if the execution has begun. If n8n could not repeat it, it is still lost.
		if (outcome === 'unknown') Object.assign(start, { hasBegun: true, seenAt: start.seenAt ?? now });
		else start.overtakenAt = now;
	}

	private settle(name: string, { last, wasEmitted }: Start, outcome: Outcome): void {
		// An execution that was not started proves nothing about the queue.
		if (outcome !== 'rejected by n8n') this.overtake(last);
		this.settled(this.groupNamed(name)!, outcome, wasEmitted);
	}

	/** @param wasEmitted whether n8n had been asked to start it before, so that an existing execution may be this one */
	private settled(group: Group, outcome: Outcome, wasEmitted: boolean): void {
		const { doneWhen, attempts, afterCrash } = this.options;
		const { name, attempt, unbegun, isReread } = group;
		this.ledger.starts.delete(name);
		const again = (delay: number, next: Partial<Group> = {}): void => {
			this.replace(name, { ...group, ...next });
			this.wait(name, { due: this.now + delay });
		};
		const setAside = (last: Group): void => {
			this.replace(name);
			this.effects.push({ do: 'report set aside', group: last, outcome });
		};
		if (outcome === 'rejected by n8n') return again(firstDelay);
		if (outcome === 'ended before its first node') {
			// Its key is used up although no execution ran.
			const next = { ...group, unbegun: unbegun + 1, isEmitted: false };
			return next.unbegun >= maxUnbegun ? setAside(next) : again(delayAfter(next.unbegun), next);
		}
		const wasStartedEarlier = outcome === 'unknown' && !wasEmitted && isReread;
		if (wasStartedEarlier || doneWhen !== 'succeeded' || outcome === 'succeeded') return this.replace(name);
		// An execution that may have succeeded is not repeated.
		if (attempt >= attempts || (outcome === 'unknown' && afterCrash === 'setAside')) return setAside(group);
		return again(outcome === 'unknown' ? 0 : delayAfter(attempt), { attempt: attempt + 1, isEmitted: false });
	}

	/** Notes an outcome: workers take jobs in order, so a start before it is lost or has begun. */
	private overtake(emission: number): void {
		this.ledger.lastOutcomeAt = this.now;
		for (const start of this.ledger.starts.values()) if (start.last < emission) start.overtakenAt ??= this.now;
	}

	/**
	 * Decides what to do about starts that n8n has not settled.
	 *
	 * In queue mode n8n 2.41 never settles a start if its database was unavailable at that moment, or if Redis has
	 * lost the job. The execution is then `new` without a job, and repeating its key replaces it
	 * (execution-persistence, reclaimTombstone, since 2.32). If the job merely waits for a worker, repeating fails
	 * the old job, which starts the error workflow. Hence it needs a reason: an overtaken start is lost or has begun.
	 *
	 * Starts are never repeated in the main process: there a start that waits for the concurrency limit runs
	 * although its execution was replaced. n8n 2.35 and later settles each start in its main process. Until the
	 * first outcome, it is unknown where executions run, and the first ones may be lost.
	 */
	private check({ onWorkers, timeout, mayProbe }: EventOf<'time'>): void {
		const { ledger, effects, now, options: { doneWhen } } = this;
		if (onWorkers === false) return;
		const isPast = (instant: number | undefined, ms: number) => instant !== undefined && now - instant >= ms;
		for (const [name, start] of [...ledger.starts]) {
			const { at, hasBegun, seenAt, overtakenAt, isReported } = start;
			start.isLost ||= onWorkers === true && !hasBegun && isPast(overtakenAt, settlingTime);
			// In the main process, an execution may take longer.
			if ((hasBegun || (onWorkers === undefined && seenAt === undefined)) && !isReported && isPast(at, reportAfter)) {
				start.isReported = true;
				effects.push({ do: 'report silent', group: this.groupNamed(name)! });
			}
			// n8n does not report an execution that it has stopped on a worker (workflow-runner, processError).
			if (timeout !== undefined && isPast(seenAt, timeout + probeAfter)) this.settle(name, start, 'failed');
			// If another had an outcome lately, this one will get its own, and keeps its slot.
			else if (hasBegun && doneWhen === 'started' && isPast(ledger.lastOutcomeAt, settlingTime)) this.settle(name, start, 'unknown');
		}
		const open = [...ledger.starts].filter(([, { hasBegun }]) => !hasBegun).sort(([, a], [, b]) => a.last - b.last);
		if (!mayProbe || !isPast(ledger.probedAt, probeInterval) || open.some(([, { isLost }]) => isLost)) return;
		const untilDoubt = onWorkers === undefined ? reportAfter : Infinity;
		const doubtful = open.find(([, { at, seenAt }]) => isPast(at, seenAt === undefined ? probeAfter : untilDoubt));
		if (!doubtful) return;
		ledger.probedAt = now;
		const [name, { seenAt }] = doubtful;
		if (seenAt === undefined) effects.push({ do: 'seek', group: this.groupNamed(name)! });
		else this.probe();
	}

	private sought({ name, exists }: EventOf<'sought'>): void {
		const start = this.ledger.starts.get(name);
		if (!start || !exists) return this.probe();
		start.seenAt = this.now;
		this.ledger.probedAt = -Infinity;
	}

	private probe(): void {
		this.effects.push({ do: 'probe', emission: ++this.ledger.emissions });
	}
}

/** Whether an execution of the group is under way. */
export const isRunning = ({ starts }: Ledger, name: string): boolean => starts.get(name)?.isLost === false;

/** Groups that are due, in order, without those behind another group of the same record. */
export function startable(ledger: Ledger, now: number): Group[] {
	const busyRecords = new Set<string>();
	return ledger.open.filter((group) => {
		const { name } = group;
		const records = memberRecords(group);
		const isFree = !records.some((record) => busyRecords.has(record));
		for (const record of records) busyRecords.add(record);
		return isFree && !isRunning(ledger, name) && (ledger.waits.get(name)?.due ?? 0) <= now;
	});
}

/** Whether an earlier group has to end first to keep the sequence. Only an unreadable group lets later groups pass. */
export function isBehind(group: Group, { open, waits }: Ledger): boolean {
	const busyRecords = new Set<string>();
	for (const earlier of open) {
		if (earlier.name === group.name) return false;
		const records = memberRecords(earlier);
		const isUnread = (waits.get(earlier.name)?.failedReadings ?? 0) > 0;
		if (!isUnread && !records.some((record) => busyRecords.has(record))) return true;
		for (const record of records) busyRecords.add(record);
	}
	return false;
}

/** When the next group is due, later than this instant (Unix epoch ms); Infinity if none waits. */
export function nextDue({ waits }: Ledger, after: number): number {
	// A group that is due and was not started waits for the end of another execution.
	return Math.min(...[...waits.values()].flatMap(({ due }) => (due > after ? [due] : [])));
}

/** Maximum number of open groups: n8n stores all of them each time. */
export const maxOpen = 500;

/** Number of events or records to read ahead, so that the next one is ready when an execution ends. */
const maxAhead = 50;

/** How many groups may be opened now: none or many, as each reading costs a request. */
export function roomForGroups(open: number, ready: number, groupSize: number): number {
	const maxGroups = Math.max(2, Math.floor(maxAhead / groupSize));
	return open >= maxOpen || ready > maxGroups / 2 ? 0 : Math.min(maxGroups - ready, maxOpen - open);
}

/** Whether a group belongs to an earlier beginning, and its records are no longer known. */
export const isAbandoned = ({ kind, start }: Group, position: Position): boolean =>
	start !== position.start && (kind === 'records' || start.startsWith('records '));
