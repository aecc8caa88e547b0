import type { IDataObject } from 'n8n-workflow';

import type { Existence } from '../unwritable';
import type { Outcome } from './execution';
import { type AwaitedExecution, entryOf, isUnderWay, type LedgerEntry } from './ledgerEntries';
import type { PollOptions } from './pollProperties';
import { type Group, memberIds, needsRecords, splitGroup } from './groups';
import type { Position } from './position';
import { abandonedReport, type LoadFailure, refusedReport, type Report, setAsideReport, silentReport, unansweredReport, unreadReport } from './reports';

/** The open groups, in sequence, and what this process knows about n8n: it forgets all but the groups when it ends. */
export interface Ledger {
	entries: LedgerEntry[];
	/** Whether the user knows that groups cannot be read: all may wait for the same reason. */
	isOutageReported: boolean;
	/** How often n8n was asked to start an execution: the number of the latest start. */
	starts: number;
	/** When the outcome of a start was last known (Unix epoch ms). */
	lastOutcomeAt: number;
	/** When n8n was last asked, or a probe started, because of its silence (Unix epoch ms). */
	probedAt: number;
}

export type LedgerEvent =
	/** A group was read, but for the failures. */
	| { is: 'loaded'; name: string; items: IDataObject[]; failures: LoadFailure[] }
	/** A start has ended. @param hasRun whether a node of the execution has run */
	| { is: 'ended'; name: string; start: number; outcome: Outcome; hasRun: boolean }
	/**
	 * @param onWorkers whether executions run on workers; undefined until the first outcome is known
	 * @param timeout of executions of this workflow (ms); Infinity if its settings have none
	 * @param beginning the one of the position
	 */
	| { is: 'time'; onWorkers: boolean | undefined; timeout: number; mayProbe: boolean; beginning: Position['beginning'] }
	/** n8n was asked whether it has an execution of a group. @param mayProbe as in the effect */
	| { is: 'answered'; name: string; exists: Existence; mayProbe: boolean }
	/** A probe has ended. */
	| { is: 'probed'; start: number; isRejected: boolean };

export type LedgerEffect =
	| { do: 'start'; group: Group; items: IDataObject[]; start: number }
	/** Ask n8n whether it has an execution of a group. @param mayProbe whether a probe is started if that is not certain */
	| { do: 'ask'; group: Group; mayProbe: boolean }
	/** Start a probe, an execution without items: its end shows where executions run, and which earlier starts are lost. */
	| { do: 'probe'; start: number }
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

/** Number of questions without an answer before a refusal is final. Before 2.35, n8n never says that it has no execution. */
const maxUnanswered = 8;

/** Milliseconds after which n8n has settled every start that it can. */
const settlingTime = 30_000;

/** Milliseconds without an outcome after which a start may wait for a worker, or be lost. */
const probeAfter = 60_000;

/** Milliseconds between two probes. */
const probeInterval = 10 * 60_000;

/** Milliseconds after which an execution that has begun and whose end is unknown is reported to the user. */
const reportAfter = 60 * 60_000;

/** The ledger of groups that were stored, of which this process knows nothing else yet. */
export const ledgerOf = (groups: Group[]): Ledger => ({
	entries: groups.map((group) => entryOf(group)), isOutageReported: false, starts: 0, lastOutcomeAt: 0, probedAt: -Infinity,
});

/** The ledger that follows from an event, as far as it is decided, and what has to be done. */
interface Decided extends Ledger {
	effects: LedgerEffect[];
}

/** Decides what follows from an event. @returns the ledger after it, and what has to be done, in this order */
export function nextLedger(ledger: Ledger, event: LedgerEvent, options: Omit<Rules, 'now'>, now: number) {
	const { effects, ...next } = afterEvent({ ...ledger, effects: [] }, event, { ...options, now });
	return { ledger: next, effects };
}

function afterEvent(ledger: Decided, event: LedgerEvent, rules: Rules): Decided {
	if (event.is === 'time') return afterTime(ledger, event, rules);
	if (event.is === 'probed') return event.isRejected ? { ...ledger, probedAt: -Infinity } : noteOutcome(ledger, event.start, rules.now);
	const entry = ledger.entries.find(({ group }) => group.name === event.name);
	if (!entry) return ledger;
	if (event.is === 'loaded') return afterLoading(ledger, entry, event, rules.now);
	return event.is === 'ended' ? afterEnd(ledger, entry, event, rules) : afterAnswer(ledger, entry, event, rules);
}

/** The ledger with these entries in place of one. */
const replaceEntry = (ledger: Decided, { group: { name } }: LedgerEntry, ...entries: LedgerEntry[]): Decided =>
	({ ...ledger, entries: ledger.entries.flatMap((entry) => (entry.group.name === name ? entries : [entry])) });

const closeGroup = (ledger: Decided, entry: LedgerEntry): Decided => replaceEntry(ledger, entry);

/** The ledger with something else known about the execution of a group. */
const withExecution = (ledger: Decided, entry: LedgerEntry, change: Partial<AwaitedExecution>): Decided =>
	replaceEntry(ledger, entry, { ...entry, execution: { ...entry.execution!, ...change } });

const withEffect = (ledger: Decided, effect: LedgerEffect): Decided => ({ ...ledger, effects: [...ledger.effects, effect] });

const withReport = (ledger: Decided, report: Report): Decided => withEffect(ledger, { do: 'report', report });

/** Starts a group that was read. One that cannot be read is postponed; n8n is asked for it if it may have been started. */
function afterLoading(before: Decided, entry: LedgerEntry, loaded: EventOf<'loaded'>, now: number): Decided {
	if (isUnderWay(entry)) return before;
	if (loaded.failures.length === 0) return startGroup({ ...before, isOutageReported: false }, entry, loaded.items, now);
	const { group } = entry;
	const ledger = group.possibleExecution ? withEffect(before, { do: 'ask', group, mayProbe: false }) : before;
	const failedReadings = entry.failedReadings + 1;
	const postponed = { ...entry, failedReadings, due: now + delayAfter(failedReadings) };
	return failedReadings < maxRefusals ? replaceEntry(ledger, entry, postponed) : startReadable(ledger, postponed, loaded, now);
}

/**
 * Starts a group without what cannot be read. Its parts have other keys, so it is divided only once n8n has no execution with
 * the key of the whole group.
 */
function startReadable(ledger: Decided, entry: LedgerEntry, { items, failures }: EventOf<'loaded'>, now: number): Decided {
	const { group, due, failedReadings } = entry;
	const unreadable = failures.map(({ ids }) => ids);
	const readable = memberIds(group).filter((id) => !unreadable.flat().includes(id));
	const isRefused = failures.every(({ isFinal }) => isFinal);
	const mayExist = group.possibleExecution !== undefined;
	if (isRefused && readable.length === 0 && !mayExist) return withReport(closeGroup(ledger, entry), refusedReport(group, failures));
	if (isRefused && mayExist && entry.unanswered >= maxUnanswered) return withReport(closeGroup(ledger, entry), unansweredReport(group, failures));
	const mustWait = readable.length === 0 || mayExist;
	const isNews = (mustWait || !isRefused) && !ledger.isOutageReported && !entry.isReported;
	const noted = isNews ? withReport({ ...ledger, isOutageReported: true }, unreadReport(group, failures)) : ledger;
	const isReported = entry.isReported || isNews;
	if (mustWait) return replaceEntry(noted, entry, { ...entry, isReported });
	const parts = splitGroup(group, [readable, ...unreadable]).map((part) => entryOf(part, { due, failedReadings, isReported }));
	return startGroup(replaceEntry(noted, entry, ...parts), parts[0]!, items, now);
}

/** Has n8n start an execution, unless there is nothing to report about the records of the group. */
function startGroup(ledger: Decided, entry: LedgerEntry, items: IDataObject[], now: number): Decided {
	if (items.length === 0) return closeGroup(ledger, entry);
	const { group } = entry;
	const start = ledger.starts + 1;
	const execution: AwaitedExecution = {
		state: 'requested', stateAt: now, laterOutcomeAt: Infinity, firstStart: entry.execution?.firstStart ?? start, lastStart: start,
		isEarlier: group.possibleExecution === 'earlier', isReported: entry.execution?.isReported ?? false,
	};
	const started = replaceEntry({ ...ledger, starts: start }, entry, entryOf({ ...group, possibleExecution: 'requested' }, { execution }));
	return withEffect(started, { do: 'start', group, items, start });
}

/**
 * Decides what the end of a start tells about the execution of its group. Of several starts, the last has replaced the
 * others, unless one of these had begun.
 */
function afterEnd(ledger: Decided, entry: LedgerEntry, { start, outcome, hasRun }: EventOf<'ended'>, rules: Rules): Decided {
	const { execution } = entry;
	const isOfEarlierAttempt = !execution || start < execution.firstStart;
	if (isOfEarlierAttempt || (start < execution.lastStart && !hasRun)) return ledger;
	const isRepetition = start > execution.firstStart;
	// Its key is in use, so an earlier start has begun, and its end is awaited.
	if (isRepetition && outcome === 'unknown') return withExecution(ledger, entry, { state: 'running', stateAt: rules.now });
	// It could not be repeated, so it is still lost.
	if (isRepetition && outcome === 'rejected by n8n') return withExecution(ledger, entry, { laterOutcomeAt: rules.now });
	return conclude(ledger, entry, outcome, rules);
}

/** Closes a group whose execution has ended, or has it wait for its next start. */
function conclude(before: Decided, entry: LedgerEntry, outcome: Outcome, rules: Rules): Decided {
	const { group, execution } = entry;
	// An execution that was not started proves nothing about the queue.
	const ledger = execution && outcome !== 'rejected by n8n' ? noteOutcome(before, execution.lastStart, rules.now) : before;
	const followUp = followUpOf(entry, outcome, rules);
	if (followUp.is === 'again') return replaceEntry(ledger, entry, entryOf({ ...group, ...followUp.next }, { due: rules.now + followUp.delay }));
	const closed = closeGroup(ledger, entry);
	return followUp.is === 'done' ? closed : withReport(closed, setAsideReport(group, outcome));
}

/** Notes an outcome, also for the starts before it: workers take jobs in order, so each of these is lost or has begun. */
function noteOutcome(ledger: Decided, start: number, now: number): Decided {
	const entries = ledger.entries.map((entry): LedgerEntry => {
		const { execution } = entry;
		if (!execution || execution.lastStart >= start) return entry;
		return { ...entry, execution: { ...execution, laterOutcomeAt: Math.min(execution.laterOutcomeAt, now) } };
	});
	return { ...ledger, entries, lastOutcomeAt: now };
}

/** What becomes of a group whose execution has ended. @param delay in milliseconds */
type FollowUp = { is: 'done' } | { is: 'set aside' } | { is: 'again'; delay: number; next: Partial<Group> };

function followUpOf({ group: { attempt, unbegun }, execution }: LedgerEntry, outcome: Outcome, { doneWhen, attempts, afterCrash }: Rules): FollowUp {
	if (outcome === 'rejected by n8n') return { is: 'again', delay: firstDelay, next: {} };
	if (outcome === 'ended before its first node') {
		if (unbegun + 1 >= maxUnbegun) return { is: 'set aside' };
		// Its key is used up although no execution ran.
		return { is: 'again', delay: delayAfter(unbegun + 1), next: { unbegun: unbegun + 1, possibleExecution: undefined } };
	}
	const isEarlier = outcome === 'unknown' && execution?.isEarlier === true;
	if (isEarlier || doneWhen !== 'succeeded' || outcome === 'succeeded') return { is: 'done' };
	// An execution that may have succeeded is not repeated.
	if (attempt >= attempts || (outcome === 'unknown' && afterCrash === 'setAside')) return { is: 'set aside' };
	return { is: 'again', delay: outcome === 'unknown' ? 0 : delayAfter(attempt), next: { attempt: attempt + 1, possibleExecution: undefined } };
}

/**
 * Decides what to do about starts that n8n has not settled.
 *
 * In queue mode n8n 2.41 never settles a start if its database was unavailable at that moment, or if Redis has
 * lost the job. The execution is then `new` without a job, and repeating its key replaces it
 * (execution-persistence, reclaimTombstone, since 2.32). If the job merely waits for a worker, repeating fails
 * the old job, which starts the error workflow. Hence it needs a reason: once a later start has had an outcome, this
 * one is lost or has begun.
 *
 * Starts are never repeated in the main process: there a start that waits for the concurrency limit runs
 * although its execution was replaced. n8n 2.35 and later settles each start in its main process. Until the
 * first outcome, it is unknown where executions run, and the first ones may be lost.
 */
function afterTime(before: Decided, event: EventOf<'time'>, rules: Rules): Decided {
	let ledger = before;
	if (event.onWorkers !== false) {
		for (const entry of before.entries) if (isUnderWay(entry)) ledger = afterSilence(ledger, entry.group.name, event, rules);
		if (event.mayProbe) ledger = askForOldest(ledger, event, rules.now);
	}
	return abandonGroups(ledger, event);
}

/** Decides about an execution whose end n8n has not reported. */
function afterSilence(ledger: Decided, name: string, { onWorkers, timeout }: EventOf<'time'>, rules: Rules): Decided {
	const { now, doneWhen } = rules;
	const entry = ledger.entries.find(({ group }) => group.name === name)!;
	const { state, stateAt, laterOutcomeAt, isReported } = entry.execution!;
	const silence = now - stateAt;
	// n8n does not report an execution that it has stopped on a worker (workflow-runner, processError).
	if (state !== 'requested' && silence >= timeout + probeAfter) return conclude(ledger, entry, 'failed', rules);
	// It has begun, which is enough. If another had an outcome lately, this one will get its own, and keeps its slot.
	if (state === 'running' && doneWhen === 'started' && now - ledger.lastOutcomeAt >= settlingTime) return conclude(ledger, entry, 'unknown', rules);
	// It has not begun although a later one has ended.
	if (state !== 'running' && onWorkers === true && now - laterOutcomeAt >= settlingTime) return withExecution(ledger, entry, { state: 'lost', stateAt: now });
	// What waits for a worker may wait a long time.
	const mayRun = state === 'running' || (state === 'requested' && onWorkers === undefined);
	if (!mayRun || isReported || silence < reportAfter) return ledger;
	return withReport(withExecution(ledger, entry, { isReported: true }), silentReport(entry.group));
}

/** Asks n8n for the oldest start that has had no outcome for long; starts a probe if n8n has it, and may run it anywhere. */
function askForOldest(ledger: Decided, { onWorkers }: EventOf<'time'>, now: number): Decided {
	const executions = ledger.entries.flatMap(({ group, execution }) => (execution ? [{ group, ...execution }] : []));
	const isOneLost = executions.some(({ state }) => state === 'lost');
	if (isOneLost || now - ledger.probedAt < probeInterval) return ledger;
	const [oldest] = executions
		.filter(({ state, stateAt }) =>
			(state === 'requested' && now - stateAt >= probeAfter) || (state === 'found' && onWorkers === undefined && now - stateAt >= reportAfter))
		.sort((a, b) => a.lastStart - b.lastStart);
	if (!oldest) return ledger;
	const next = { ...ledger, probedAt: now };
	return oldest.state === 'found' ? probe(next) : withEffect(next, { do: 'ask', group: oldest.group, mayProbe: true });
}

function probe(ledger: Decided): Decided {
	const start = ledger.starts + 1;
	return withEffect({ ...ledger, starts: start }, { do: 'probe', start });
}

/** Applies what n8n said about the execution of a group. */
function afterAnswer(ledger: Decided, entry: LedgerEntry, { exists, mayProbe }: EventOf<'answered'>, rules: Rules): Decided {
	const { group, execution } = entry;
	if (isUnderWay(entry)) {
		// It may be lost: the end of a probe would show that.
		if (exists !== true) return mayProbe ? probe(ledger) : ledger;
		const next = { ...ledger, probedAt: -Infinity };
		return execution?.state === 'requested' ? withExecution(next, entry, { state: 'found', stateAt: rules.now }) : next;
	}
	const isOfEarlierAttempt = group.possibleExecution === undefined;
	if (isOfEarlierAttempt || exists === 'no database') return ledger;
	if (exists === 'no answer') return replaceEntry(ledger, entry, { ...entry, unanswered: entry.unanswered + 1 });
	if (!exists) return replaceEntry(ledger, entry, { ...entry, group: { ...group, possibleExecution: undefined }, execution: undefined });
	if (execution) return withExecution(ledger, entry, { state: 'running', stateAt: rules.now });
	return group.possibleExecution === 'earlier' ? closeGroup(ledger, entry) : conclude(ledger, entry, 'unknown', rules);
}

/** Sets open groups aside that only an earlier beginning could read. */
function abandonGroups(ledger: Decided, { beginning }: EventOf<'time'>): Decided {
	const isAbandoned = (entry: LedgerEntry) => !isUnderWay(entry) && entry.group.beginning !== beginning && needsRecords(entry.group);
	const groups = ledger.entries.filter(isAbandoned).map(({ group }) => group);
	if (groups.length === 0) return ledger;
	return withReport({ ...ledger, entries: ledger.entries.filter((entry) => !isAbandoned(entry)) }, abandonedReport(groups));
}
