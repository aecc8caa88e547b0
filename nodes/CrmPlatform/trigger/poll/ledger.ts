import type { IDataObject } from 'n8n-workflow';

import type { CrmEvent } from '../../log/crmEvent';
import type { Outcome } from './execution';
import type { PollOptions } from './pollProperties';
import { type Group, memberIds, memberRecords, needsRecords, type Position, splitGroup } from './position';
import { abandoned, type LoadFailure, type Report, setAside, silent, unread } from './reports';

/**
 * How far an execution is known to have come, until its end is known:
 * - `started`: n8n was asked to start it, for the first time or again.
 * - `found`: n8n has an execution with its key, which may wait for a worker.
 * - `begun`: n8n has refused to repeat it, so that only its end is missing.
 * - `lost`: n8n has lost it, so that it is started again with its key.
 */
type ExecutionState = 'started' | 'found' | 'begun' | 'lost';

/** An execution that n8n was asked to start, and whose end is unknown. */
interface ExecutionUnderWay {
	state: ExecutionState;
	/** When it entered this state (Unix epoch ms). */
	since: number;
	/** The numbers of its first and of its last emission: each emission of this trigger has a higher one. */
	first: number;
	last: number;
	/** When the outcome of a later emission was first known (Unix epoch ms); Infinity if none is. */
	overtakenAt: number;
	/** Whether n8n had been asked to start it before, so that an existing execution may be this one. */
	wasEmitted: boolean;
	/** Whether the user knows that its end is missing. */
	isReported: boolean;
}

/** The events of a group, or the items of its records. */
export type Input = CrmEvent[] | IDataObject[];

/** An open group, and what this process knows about it. */
export interface OpenGroup {
	readonly group: Group;
	/** What was just read of it. */
	input?: Input | undefined;
	/** When it may be started next (Unix epoch ms). */
	due: number;
	/** How often its items could not be read. */
	failedReadings: number;
	/** Whether the user knows that it cannot be read. */
	isReported: boolean;
	/** Absent while the group waits for a start. */
	execution?: ExecutionUnderWay | undefined;
}

/** The open groups, in sequence, and what this process knows about n8n: it forgets all but the groups when it ends. */
export interface Ledger {
	open: OpenGroup[];
	/** Whether the user knows that groups cannot be read: all may wait for the same reason. */
	isOutageReported: boolean;
	/** Whether there were as many groups as may be open. */
	isFull: boolean;
	emissions: number;
	/** When the outcome of a start was last known (Unix epoch ms). */
	lastOutcomeAt: number;
	/** When an execution without items was started (Unix epoch ms). */
	probedAt: number;
}

export const openGroup = (group: Group, more: Partial<OpenGroup> = {}): OpenGroup =>
	({ group, due: 0, failedReadings: 0, isReported: false, ...more });

export const ledgerOf = (open: Group[]): Ledger =>
	({ open: open.map((group) => openGroup(group)), isOutageReported: false, isFull: false, emissions: 0, lastOutcomeAt: 0, probedAt: -Infinity });

export type LedgerEvent =
	/** A group was read, but for the failures. */
	| { is: 'loaded'; name: string; items: IDataObject[]; failures: LoadFailure[] }
	/** An emission has ended. @param hasRun whether a node of the execution has run */
	| { is: 'ended'; name: string; emission: number; outcome: Outcome; hasRun: boolean }
	/**
	 * @param onWorkers whether executions run on workers; undefined until the first outcome is known
	 * @param timeout of executions of this workflow (ms); Infinity if its settings have none
	 * @param beginning the one of the position
	 */
	| { is: 'time'; onWorkers: boolean | undefined; timeout: number; mayProbe: boolean; beginning: Position['start'] }
	/** n8n was asked whether the execution of a group exists. */
	| { is: 'sought'; name: string; exists: boolean }
	/** An execution without items has ended. */
	| { is: 'probed'; emission: number; wasStarted: boolean };

export type LedgerEffect =
	| { do: 'emit'; group: Group; items: IDataObject[]; emission: number }
	/** Ask n8n for the execution of a group. */
	| { do: 'seek'; group: Group }
	/** Run an execution without items: its end shows where executions run, and overtakes lost starts. */
	| { do: 'probe'; emission: number }
	| { do: 'report'; report: Report }
	/** Writes to the log of n8n. */
	| { do: 'warn'; message: string };

/** What decides beside the ledger and the event. */
type Options = Pick<PollOptions, 'doneWhen' | 'attempts' | 'afterCrash'>;
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

/** What an event makes of the ledger. */
interface Next {
	ledger: Ledger;
	effects: LedgerEffect[];
}

export function nextLedger(before: Ledger, event: LedgerEvent, options: Options, now: number): Next {
	const open = before.open.map((entry) => ({ ...entry, execution: entry.execution && { ...entry.execution } }));
	const draft = new Draft({ ...before, open }, options, now);
	if (event.is === 'time') draft.time(event);
	else if (event.is === 'probed') draft.probed(event);
	else {
		const entry = open.find(({ group }) => group.name === event.name);
		if (!entry) return draft;
		if (event.is === 'sought') draft.sought(entry, event);
		else if (event.is === 'loaded') draft.loaded(entry, event);
		else draft.ended(entry, event);
	}
	return draft;
}

/** A copy of the ledger, which an event changes. */
class Draft implements Next {
	readonly ledger: Ledger;
	readonly effects: LedgerEffect[] = [];
	private readonly options: Options;
	private readonly now: number;

	constructor(ledger: Ledger, options: Options, now: number) {
		this.ledger = ledger;
		this.options = options;
		this.now = now;
	}

	/** Starts a group that was read. One that cannot be read is postponed, then starts without what cannot be read. */
	loaded(entry: OpenGroup, { items, failures }: EventOf<'loaded'>): void {
		if (isRunning(entry)) return;
		if (failures.length === 0) {
			this.ledger.isOutageReported = false;
			return this.start(entry, items);
		}
		const failedReadings = (entry.failedReadings += 1);
		const due = (entry.due = this.now + delayAfter(failedReadings));
		if (failedReadings < maxRefusals) return;
		const { group } = entry;
		const isRefused = failures.every(({ isFinal }) => isFinal);
		if (!isRefused && !this.ledger.isOutageReported && !entry.isReported) {
			entry.isReported = true;
			this.ledger.isOutageReported = true;
			this.report(unread(group, failures, 'waits'));
		}
		const failed = failures.map(({ ids }) => ids);
		const readable = memberIds(group).filter((id) => !failed.flat().includes(id));
		if (readable.length > 0) {
			const parts = splitGroup(group, [readable, ...failed]).map((part) => openGroup(part, { due, failedReadings }));
			this.replace(entry, ...parts);
			this.start(parts[0]!, items);
		} else if (isRefused) {
			this.replace(entry);
			this.report(unread(group, failures, 'set aside'));
		}
	}

	/** Has n8n start an execution, unless there is nothing to report about the records of the group. */
	private start(entry: OpenGroup, items: IDataObject[]): void {
		if (items.length === 0) return this.replace(entry);
		const { ledger, now } = this;
		const emission = (ledger.emissions += 1);
		const { first, wasEmitted, isReported } = entry.execution ?? { first: emission, wasEmitted: entry.group.isEmitted ?? false, isReported: false };
		const execution: ExecutionUnderWay = { state: 'started', since: now, first, last: emission, overtakenAt: Infinity, wasEmitted, isReported };
		this.replace(entry, openGroup({ ...entry.group, isEmitted: true }, { execution }));
		this.effects.push({ do: 'emit', group: entry.group, items, emission });
	}

	/** Of a start that was repeated, the last emission has replaced the one before, unless a node of that has run. */
	ended(entry: OpenGroup, { emission, outcome, hasRun }: EventOf<'ended'>): void {
		const { execution } = entry;
		if (!execution || emission < execution.first || (emission < execution.last && !hasRun)) return;
		const isRepetition = emission > execution.first;
		// Its key is known, so it has begun.
		if (isRepetition && outcome === 'unknown') this.enter(execution, 'begun');
		// It could not be repeated, so it is still lost.
		else if (isRepetition && outcome === 'rejected by n8n') execution.overtakenAt = this.now;
		else this.finish(entry, outcome);
	}

	/** Closes a group whose execution has ended, or has it wait for its next start. */
	private finish(entry: OpenGroup, outcome: Outcome): void {
		// An execution that was not started proves nothing about the queue.
		if (entry.execution && outcome !== 'rejected by n8n') this.overtake(entry.execution.last);
		const fate = fateOf(entry, outcome, this.options);
		if (fate.is === 'again') return this.replace(entry, openGroup({ ...entry.group, ...fate.next }, { due: this.now + fate.delay }));
		this.replace(entry);
		if (fate.is === 'set aside') this.report(setAside(entry.group, outcome));
	}

	/** Notes an outcome: workers take jobs in order, so a start before it is lost or has begun. */
	private overtake(emission: number): void {
		this.ledger.lastOutcomeAt = this.now;
		for (const { execution } of this.ledger.open) {
			if (execution && execution.last < emission) execution.overtakenAt = Math.min(execution.overtakenAt, this.now);
		}
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
	time(event: EventOf<'time'>): void {
		const wasFull = this.ledger.isFull;
		this.ledger.isFull = this.ledger.open.length >= maxOpen;
		if (this.ledger.isFull && !wasFull) this.effects.push({ do: 'warn', message: full });
		if (event.onWorkers !== false) {
			for (const entry of this.ledger.open) if (entry.execution) this.waitFor(entry, entry.execution, event);
			if (event.mayProbe) this.askForLost(event);
		}
		this.setAbandonedAside(event);
	}

	private waitFor(entry: OpenGroup, execution: ExecutionUnderWay, { onWorkers, timeout }: EventOf<'time'>): void {
		const { state, since, overtakenAt, isReported } = execution;
		const exists = state === 'found' || state === 'begun';
		// n8n does not report an execution that it has stopped on a worker (workflow-runner, processError).
		if (exists && this.isPast(since, timeout + probeAfter)) return this.finish(entry, 'failed');
		// If another had an outcome lately, this one will get its own, and keeps its slot.
		const isSettled = this.isPast(this.ledger.lastOutcomeAt, settlingTime);
		if (state === 'begun' && this.options.doneWhen === 'started' && isSettled) return this.finish(entry, 'unknown');
		if (state !== 'begun' && onWorkers === true && this.isPast(overtakenAt, settlingTime)) return this.enter(execution, 'lost');
		// In the main process, an execution may take longer.
		const isSilent = state === 'begun' || (state === 'started' && onWorkers === undefined);
		if (!isSilent || isReported || !this.isPast(since, reportAfter)) return;
		execution.isReported = true;
		this.report(silent(entry.group));
	}

	/** Asks n8n for the start that has had no outcome for longest, or runs an execution that overtakes it. */
	private askForLost({ onWorkers }: EventOf<'time'>): void {
		const { ledger } = this;
		const isLost = ledger.open.some(({ execution }) => execution?.state === 'lost');
		if (isLost || !this.isPast(ledger.probedAt, probeInterval)) return;
		const patience = { started: probeAfter, found: onWorkers === undefined ? reportAfter : Infinity, begun: Infinity, lost: Infinity };
		const [doubtful] = ledger.open
			.flatMap(({ group, execution }) => (execution && this.isPast(execution.since, patience[execution.state]) ? [{ group, ...execution }] : []))
			.sort((a, b) => a.last - b.last);
		if (!doubtful) return;
		ledger.probedAt = this.now;
		if (doubtful.state === 'started') this.effects.push({ do: 'seek', group: doubtful.group });
		else this.probe();
	}

	/** Sets open groups aside that only an earlier beginning could read. */
	private setAbandonedAside({ beginning }: EventOf<'time'>): void {
		const groups = this.ledger.open.filter((entry) => !isRunning(entry) && entry.group.start !== beginning && needsRecords(entry.group));
		if (groups.length === 0) return;
		for (const entry of groups) this.replace(entry);
		this.report(abandoned(groups.map(({ group }) => group)));
	}

	sought(entry: OpenGroup, { exists }: EventOf<'sought'>): void {
		const { group, execution } = entry;
		if (!execution) {
			if (exists && group.isEmitted) this.finish(entry, 'unknown');
		} else if (exists) {
			if (execution.state === 'started') this.enter(execution, 'found');
			this.ledger.probedAt = -Infinity;
		} else this.probe();
	}

	private probe(): void {
		this.effects.push({ do: 'probe', emission: ++this.ledger.emissions });
	}

	probed({ emission, wasStarted }: EventOf<'probed'>): void {
		if (wasStarted) this.overtake(emission);
		else this.ledger.probedAt = -Infinity;
	}

	private enter(execution: ExecutionUnderWay, state: ExecutionState): void {
		Object.assign(execution, { state, since: this.now });
	}

	private replace(entry: OpenGroup, ...entries: OpenGroup[]): void {
		this.ledger.open = this.ledger.open.flatMap((each) => (each === entry ? entries : [each]));
	}

	private report(report: Report): void {
		this.effects.push({ do: 'report', report });
	}

	private isPast(instant: number, ms: number): boolean {
		return this.now - instant >= ms;
	}
}

/** What becomes of a group whose execution has ended. @param delay in milliseconds */
type Fate = { is: 'done' } | { is: 'set aside' } | { is: 'again'; delay: number; next: Partial<Group> };

function fateOf({ group, execution }: OpenGroup, outcome: Outcome, { doneWhen, attempts, afterCrash }: Options): Fate {
	if (outcome === 'rejected by n8n') return { is: 'again', delay: firstDelay, next: {} };
	if (outcome === 'ended before its first node') {
		// Its key is used up although no execution ran.
		const unbegun = group.unbegun + 1;
		return unbegun < maxUnbegun ? { is: 'again', delay: delayAfter(unbegun), next: { unbegun, isEmitted: false } } : { is: 'set aside' };
	}
	const wasStartedEarlier = outcome === 'unknown' && execution?.wasEmitted === false && group.isReread;
	if (wasStartedEarlier || doneWhen !== 'succeeded' || outcome === 'succeeded') return { is: 'done' };
	const { attempt } = group;
	// An execution that may have succeeded is not repeated.
	if (attempt >= attempts || (outcome === 'unknown' && afterCrash === 'setAside')) return { is: 'set aside' };
	return { is: 'again', delay: outcome === 'unknown' ? 0 : delayAfter(attempt), next: { attempt: attempt + 1, isEmitted: false } };
}

/** Whether an execution of the group is under way, as far as is known. */
export const isRunning = ({ execution }: OpenGroup): boolean => execution !== undefined && execution.state !== 'lost';

export const countUnderWay = ({ open }: Ledger): number => open.filter(({ execution }) => execution).length;

/**
 * Groups that may be started, in order, without those behind another group of the same record.
 *
 * @param inSequence whether an earlier group has to end first. Only an unreadable group lets later groups pass
 */
export function startable({ open }: Ledger, now: number, inSequence = false): OpenGroup[] {
	const busyRecords = new Set<string>();
	let isHeld = false;
	return open.filter((entry) => {
		const records = memberRecords(entry.group);
		const isFree = !isHeld && !records.some((record) => busyRecords.has(record));
		for (const record of records) busyRecords.add(record);
		isHeld ||= inSequence && isFree && entry.failedReadings === 0;
		return isFree && !isRunning(entry) && entry.due <= now;
	});
}

/** When the next group is due, later than this instant (Unix epoch ms); Infinity if none waits. */
export function nextDue({ open }: Ledger, after: number): number {
	// A group that is due and was not started waits for the end of another execution.
	return Math.min(...open.flatMap(({ due }) => (due > after ? [due] : [])));
}

/** Maximum number of open groups: n8n stores all of them each time. */
export const maxOpen = 500;

const full = `${maxOpen} executions are queued or wait for another attempt, so no more events are read until some of them finish. The CRM keeps the events.`;

/** Number of events or records to read ahead, so that the next one is ready when an execution ends. */
const maxAhead = 50;

/** How many groups may be opened now: none or many, as each reading costs a request. */
export function roomForGroups(ledger: Ledger, now: number, groupSize: number): number {
	const ready = startable(ledger, now).length;
	const maxGroups = Math.max(2, Math.floor(maxAhead / groupSize));
	return ready > maxGroups / 2 ? 0 : Math.min(maxGroups - ready, Math.max(0, maxOpen - ledger.open.length));
}
