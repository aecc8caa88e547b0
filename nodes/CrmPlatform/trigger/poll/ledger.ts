import type { IDataObject } from 'n8n-workflow';

import type { Existence } from '../unwritable';
import type { Outcome } from './execution';
import { type AwaitedExecution, isUnderWay, openGroup, type OpenGroup } from './openGroups';
import type { PollOptions } from './pollProperties';
import { type Group, memberIds, needsRecords, type Position, splitGroup } from './position';
import { abandonedReport, type LoadFailure, type Report, setAsideReport, silentReport, unreadReport } from './reports';

/** The open groups, in sequence, and what this process knows about n8n: it forgets all but the groups when it ends. */
export interface Ledger {
	open: OpenGroup[];
	/** Whether the user knows that groups cannot be read: all may wait for the same reason. */
	isOutageReported: boolean;
	emissions: number;
	/** When the outcome of a start was last known (Unix epoch ms). */
	lastOutcomeAt: number;
	/** When an execution without items was started (Unix epoch ms). */
	probedAt: number;
}

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
	| { is: 'time'; onWorkers: boolean | undefined; timeout: number; mayProbe: boolean; beginning: Position['beginning'] }
	/** n8n was asked whether the execution of a group exists. */
	| { is: 'sought'; name: string; exists: Existence }
	/** An execution without items has ended. */
	| { is: 'probed'; emission: number; isRejected: boolean };

export type LedgerEffect =
	| { do: 'emit'; group: Group; items: IDataObject[]; emission: number }
	/** Ask n8n for the execution of a group. */
	| { do: 'seek'; group: Group }
	/** Run an execution without items: its end shows where executions run, and overtakes lost starts. */
	| { do: 'probe'; emission: number }
	| { do: 'report'; report: Report };

type EventOf<Is extends LedgerEvent['is']> = Extract<LedgerEvent, { is: Is }>;

/** What decides beside the ledger and the event. */
interface Rules extends Pick<PollOptions, 'doneWhen' | 'attempts' | 'afterCrash'> {
	/** Unix epoch milliseconds. */
	now: number;
}

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

export const ledgerOf = (open: Group[]): Ledger => ({
	open: open.map((group) => openGroup(group)), isOutageReported: false, emissions: 0, lastOutcomeAt: 0, probedAt: -Infinity,
});

/** The ledger that follows from an event, as far as it is decided, and what has to be done. */
interface Next extends Ledger {
	effects: LedgerEffect[];
}

export function nextLedger(ledger: Ledger, event: LedgerEvent, options: Omit<Rules, 'now'>, now: number) {
	const { effects, ...next } = afterEvent({ ...ledger, effects: [] }, event, { ...options, now });
	return { ledger: next, effects };
}

function afterEvent(ledger: Next, event: LedgerEvent, rules: Rules): Next {
	if (event.is === 'time') return afterTime(ledger, event, rules);
	if (event.is === 'probed') return event.isRejected ? { ...ledger, probedAt: -Infinity } : noteOutcome(ledger, event.emission, rules.now);
	const entry = ledger.open.find(({ group }) => group.name === event.name);
	if (!entry) return ledger;
	if (event.is === 'sought') return afterSeeking(ledger, entry, event, rules);
	return event.is === 'loaded' ? afterLoading(ledger, entry, event, rules.now) : afterEnd(ledger, entry, event, rules);
}

/** The ledger with these groups in place of one. */
const replaceGroup = (ledger: Next, { group: { name } }: OpenGroup, ...groups: OpenGroup[]): Next =>
	({ ...ledger, open: ledger.open.flatMap((entry) => (entry.group.name === name ? groups : [entry])) });

const closeGroup = (ledger: Next, entry: OpenGroup): Next => replaceGroup(ledger, entry);

/** The ledger with something else known about the execution of a group. */
const withExecution = (ledger: Next, entry: OpenGroup, change: Partial<AwaitedExecution>): Next =>
	replaceGroup(ledger, entry, { ...entry, execution: { ...entry.execution!, ...change } });

const withEffect = (ledger: Next, effect: LedgerEffect): Next => ({ ...ledger, effects: [...ledger.effects, effect] });

const withReport = (ledger: Next, report: Report): Next => withEffect(ledger, { do: 'report', report });

/**
 * Starts a group that was read. One that cannot be read is postponed, then starts without what cannot be read. Its parts have
 * other keys, so it is divided only once n8n has no execution with the key of the whole group.
 */
function afterLoading(before: Next, entry: OpenGroup, { items, failures }: EventOf<'loaded'>, now: number): Next {
	if (isUnderWay(entry)) return before;
	if (failures.length === 0) return emitGroup({ ...before, isOutageReported: false }, entry, items, now);
	const { group } = entry;
	const isPerhapsStarted = mayHaveExecution(group);
	const ledger = isPerhapsStarted ? withEffect(before, { do: 'seek', group }) : before;
	const failedReadings = entry.failedReadings + 1;
	const postponement = { failedReadings, due: now + delayAfter(failedReadings) };
	if (failedReadings < maxRefusals) return replaceGroup(ledger, entry, { ...entry, ...postponement });
	const unreadable = failures.map(({ ids }) => ids);
	const readable = memberIds(group).filter((id) => !unreadable.flat().includes(id));
	const isRefused = failures.every(({ isFinal }) => isFinal);
	if (isRefused && readable.length === 0) return withReport(closeGroup(ledger, entry), unreadReport(group, failures, 'set aside'));
	const isNews = (!isRefused || isPerhapsStarted) && !ledger.isOutageReported && !entry.isReported;
	const noted = isNews ? withReport({ ...ledger, isOutageReported: true }, unreadReport(group, failures, 'waits')) : ledger;
	const waiting = { ...postponement, isReported: entry.isReported || isNews };
	if (readable.length === 0 || isPerhapsStarted) return replaceGroup(noted, entry, { ...entry, ...waiting });
	const parts = splitGroup(group, [readable, ...unreadable]).map((part) => openGroup(part, waiting));
	return emitGroup(replaceGroup(noted, entry, ...parts), parts[0]!, items, now);
}

/** Has n8n start an execution, unless there is nothing to report about the records of the group. */
function emitGroup(ledger: Next, entry: OpenGroup, items: IDataObject[], now: number): Next {
	if (items.length === 0) return closeGroup(ledger, entry);
	const { group } = entry;
	const emission = ledger.emissions + 1;
	const { first, isReported } = entry.execution ?? { first: emission, isReported: false };
	const execution = { state: 'emitted', stateAt: now, first, last: emission, overtakenAt: Infinity, mayBeEarlier: mayBeEarlier(group), isReported } as const;
	const emitted = replaceGroup({ ...ledger, emissions: emission }, entry, openGroup({ ...group, isEmitted: true }, { execution }));
	return withEffect(emitted, { do: 'emit', group, items, emission });
}

/** Decides what the end of an emission tells about the execution of its group, which may have been emitted again. */
function afterEnd(ledger: Next, entry: OpenGroup, { emission, outcome, hasRun }: EventOf<'ended'>, rules: Rules): Next {
	const { execution } = entry;
	if (!execution || emission < execution.first) return ledger;
	// The last emission has replaced the ones before, unless a node of these has run.
	if (emission < execution.last && !hasRun) return ledger;
	const isRepetition = emission > execution.first;
	// Its key is known, so it has begun.
	if (isRepetition && outcome === 'unknown') return withExecution(ledger, entry, { state: 'running', stateAt: rules.now });
	// It could not be repeated, so it is still lost.
	if (isRepetition && outcome === 'rejected by n8n') return withExecution(ledger, entry, { overtakenAt: rules.now });
	return conclude(ledger, entry, outcome, rules);
}

/** Closes a group whose execution has ended, or has it wait for its next start. */
function conclude(before: Next, entry: OpenGroup, outcome: Outcome, rules: Rules): Next {
	const { group, execution } = entry;
	// An execution that was not started proves nothing about the queue.
	const ledger = execution && outcome !== 'rejected by n8n' ? noteOutcome(before, execution.last, rules.now) : before;
	const followUp = followUpOf(entry, outcome, rules);
	if (followUp.is === 'again') return replaceGroup(ledger, entry, openGroup({ ...group, ...followUp.next }, { due: rules.now + followUp.delay }));
	const closed = closeGroup(ledger, entry);
	return followUp.is === 'done' ? closed : withReport(closed, setAsideReport(group, outcome));
}

/** Notes which starts an outcome has overtaken: workers take jobs in order, so a start before it is lost or has begun. */
function noteOutcome(ledger: Next, emission: number, now: number): Next {
	const open = ledger.open.map((entry): OpenGroup => {
		const { execution } = entry;
		if (!execution || execution.last >= emission) return entry;
		return { ...entry, execution: { ...execution, overtakenAt: Math.min(execution.overtakenAt, now) } };
	});
	return { ...ledger, open, lastOutcomeAt: now };
}

/** What becomes of a group whose execution has ended. @param delay in milliseconds */
type FollowUp = { is: 'done' } | { is: 'set aside' } | { is: 'again'; delay: number; next: Partial<Group> };

/** Of a group that waits for its first start under its key. */
const unstarted = { isEmitted: false, mayBeStarted: false };

/** Whether n8n may have an execution with the key of a group that is not under way. */
const mayHaveExecution = ({ isEmitted, mayBeStarted }: Group): boolean => isEmitted === true || mayBeStarted === true;

/** Whether such an execution is one from before the group was read again. */
const mayBeEarlier = ({ isEmitted, mayBeStarted }: Group): boolean => mayBeStarted === true && isEmitted !== true;

function followUpOf({ group: { attempt, unbegun }, execution }: OpenGroup, outcome: Outcome, { doneWhen, attempts, afterCrash }: Rules): FollowUp {
	if (outcome === 'rejected by n8n') return { is: 'again', delay: firstDelay, next: {} };
	if (outcome === 'ended before its first node') {
		if (unbegun + 1 >= maxUnbegun) return { is: 'set aside' };
		// Its key is used up although no execution ran.
		return { is: 'again', delay: delayAfter(unbegun + 1), next: { unbegun: unbegun + 1, ...unstarted } };
	}
	const isEarlier = outcome === 'unknown' && execution?.mayBeEarlier === true;
	if (isEarlier || doneWhen !== 'succeeded' || outcome === 'succeeded') return { is: 'done' };
	// An execution that may have succeeded is not repeated.
	if (attempt >= attempts || (outcome === 'unknown' && afterCrash === 'setAside')) return { is: 'set aside' };
	return { is: 'again', delay: outcome === 'unknown' ? 0 : delayAfter(attempt), next: { attempt: attempt + 1, ...unstarted } };
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
function afterTime(before: Next, event: EventOf<'time'>, rules: Rules): Next {
	let ledger = before;
	if (event.onWorkers !== false) {
		for (const entry of before.open) if (isUnderWay(entry)) ledger = checkExecution(ledger, entry.group.name, event, rules);
		if (event.mayProbe) ledger = checkOldest(ledger, event, rules.now);
	}
	return abandonGroups(ledger, event);
}

/** Decides about an execution that n8n has not reported on for a long time. */
function checkExecution(ledger: Next, name: string, { onWorkers, timeout }: EventOf<'time'>, rules: Rules): Next {
	const { now, doneWhen } = rules;
	const entry = ledger.open.find(({ group }) => group.name === name)!;
	const { state, stateAt, overtakenAt, isReported } = entry.execution!;
	const silence = now - stateAt;
	// n8n does not report an execution that it has stopped on a worker (workflow-runner, processError).
	if (state !== 'emitted' && silence >= timeout + probeAfter) return conclude(ledger, entry, 'failed', rules);
	// It has begun, which is enough. If another had an outcome lately, this one will get its own, and keeps its slot.
	if (state === 'running' && doneWhen === 'started' && now - ledger.lastOutcomeAt >= settlingTime) return conclude(ledger, entry, 'unknown', rules);
	// It has not begun although a later one has ended.
	if (state !== 'running' && onWorkers === true && now - overtakenAt >= settlingTime) return withExecution(ledger, entry, { state: 'lost', stateAt: now });
	// What waits for a worker may wait a long time.
	const mayRun = state === 'running' || (state === 'emitted' && onWorkers === undefined);
	if (!mayRun || isReported || silence < reportAfter) return ledger;
	return withReport(withExecution(ledger, entry, { isReported: true }), silentReport(entry.group));
}

/** Asks n8n for the oldest start that has had no outcome for long; if n8n may have lost it, runs an execution that overtakes it. */
function checkOldest(ledger: Next, { onWorkers }: EventOf<'time'>, now: number): Next {
	const executions = ledger.open.flatMap(({ group, execution }) => (execution ? [{ group, ...execution }] : []));
	const isOneLost = executions.some(({ state }) => state === 'lost');
	if (isOneLost || now - ledger.probedAt < probeInterval) return ledger;
	const [oldest] = executions
		.filter(({ state, stateAt }) =>
			(state === 'emitted' && now - stateAt >= probeAfter) || (state === 'found' && onWorkers === undefined && now - stateAt >= reportAfter))
		.sort((a, b) => a.last - b.last);
	if (!oldest) return ledger;
	const next = { ...ledger, probedAt: now };
	return oldest.state === 'found' ? probe(next) : withEffect(next, { do: 'seek', group: oldest.group });
}

function probe(ledger: Next): Next {
	const emission = ledger.emissions + 1;
	return withEffect({ ...ledger, emissions: emission }, { do: 'probe', emission });
}

/** Applies what n8n said about the execution of a group. */
function afterSeeking(ledger: Next, entry: OpenGroup, { exists }: EventOf<'sought'>, rules: Rules): Next {
	const { group, execution } = entry;
	if (isUnderWay(entry)) {
		if (exists !== true) return probe(ledger);
		const next = { ...ledger, probedAt: -Infinity };
		return execution?.state === 'emitted' ? withExecution(next, entry, { state: 'found', stateAt: rules.now }) : next;
	}
	// Otherwise, it was an earlier attempt that n8n was asked for.
	if (!mayHaveExecution(group)) return ledger;
	if (exists === false) return replaceGroup(ledger, entry, { ...entry, group: { ...group, ...unstarted }, execution: undefined });
	if (exists !== true) return ledger;
	if (execution) return withExecution(ledger, entry, { state: 'running', stateAt: rules.now });
	return mayBeEarlier(group) ? closeGroup(ledger, entry) : conclude(ledger, entry, 'unknown', rules);
}

/** Sets open groups aside that only an earlier beginning could read. */
function abandonGroups(ledger: Next, { beginning }: EventOf<'time'>): Next {
	const isAbandoned = (entry: OpenGroup) => !isUnderWay(entry) && entry.group.beginning !== beginning && needsRecords(entry.group);
	const groups = ledger.open.filter(isAbandoned).map(({ group }) => group);
	if (groups.length === 0) return ledger;
	return withReport({ ...ledger, open: ledger.open.filter((entry) => !isAbandoned(entry)) }, abandonedReport(groups));
}
