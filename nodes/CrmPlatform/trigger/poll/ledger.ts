import type { IDataObject } from 'n8n-workflow';

import type { ExecutionEnd, Outcome } from './execution';
import { type AwaitedExecution, entryOf, isUnderWay, type LedgerEntry } from './ledgerEntries';
import type { GroupItems } from './loading';
import type { PollOptions } from './pollSettings';
import { type Group, memberIds, needsRecords, splitGroup } from './groups';
import type { Position } from './position';
import { abandonedReport, refusedReport, type Report, setAsideReport, unansweredReport, unreadReport } from './reports';

/** The open groups, in sequence, and what this process knows about n8n: it forgets all but the groups when it ends. */
export interface Ledger {
	entries: LedgerEntry[];
	/** What has to be done next, in this order. */
	effects: LedgerEffect[];
	/** Whether the user knows that groups cannot be read: all may wait for the same reason. */
	isOutageReported: boolean;
	/** How often n8n was asked to start an execution: the number of the latest start. */
	startCount: number;
	/** When the outcome of a start was last known (Unix epoch ms). */
	lastOutcomeAt: number;
	/** When n8n was last asked, or a probe started, because of its silence (Unix epoch ms). */
	probedAt: number;
}

export type LedgerEffect =
	| { do: 'start'; group: Group; items: IDataObject[]; startNumber: number }
	/** Ask n8n whether it has an execution of a group. @param mayProbe whether a probe is started if that is not certain */
	| { do: 'ask'; group: Group; mayProbe: boolean }
	/** Start a probe, an execution without items: its end shows where executions run, and which earlier starts are lost. */
	| { do: 'probe'; startNumber: number }
	| { do: 'report'; report: Report };

/** What decides beside the ledger and what has happened. */
export interface Rules extends Pick<PollOptions, 'doneWhen' | 'attempts' | 'afterCrash'> {
	/** Unix epoch milliseconds. */
	now: number;
}

/** Milliseconds before the second attempt; doubles each time. */
const firstDelay = 5_000;
const maxDelay = 5 * 60_000;
const delayAfter = (tries: number): number => Math.min(firstDelay * 2 ** (tries - 1), maxDelay);

/** Maximum number of executions of a group that n8n does not start, or ends before they begin. */
export const maxUnbegun = 10;

/** Number of reads before a refusal is final. Together, they take longer than a replica may lag. */
const maxRefusals = 4;

/** Number of questions without an answer before a refusal is final. Before 2.35, n8n never says that it has no execution. */
const maxUnanswered = 8;

/** The ledger of groups that were stored, of which this process knows nothing else yet. */
export const ledgerOf = (groups: Group[]): Ledger => ({
	entries: groups.map((group) => entryOf(group)), effects: [], isOutageReported: false, startCount: 0, lastOutcomeAt: 0, probedAt: -Infinity,
});

/** The entry of a group; undefined once the group is closed. */
export const entryNamed = ({ entries }: Ledger, name: string): LedgerEntry | undefined => entries.find(({ group }) => group.name === name);

/** The ledger with these entries in place of one. */
export const replaceEntry = (ledger: Ledger, { group: { name } }: LedgerEntry, ...entries: LedgerEntry[]): Ledger =>
	({ ...ledger, entries: ledger.entries.flatMap((entry) => (entry.group.name === name ? entries : [entry])) });

export const closeGroup = (ledger: Ledger, entry: LedgerEntry): Ledger => replaceEntry(ledger, entry);

/** The ledger with something else known about the execution of a group. */
export const withExecution = (ledger: Ledger, entry: LedgerEntry, change: Partial<AwaitedExecution>): Ledger =>
	replaceEntry(ledger, entry, { ...entry, execution: { ...entry.execution!, ...change } });

export const withEffect = (ledger: Ledger, effect: LedgerEffect): Ledger => ({ ...ledger, effects: [...ledger.effects, effect] });

export const withReport = (ledger: Ledger, report: Report): Ledger => withEffect(ledger, { do: 'report', report });

/** Starts a group that was read. One that cannot be read is postponed; n8n is asked for it if it may have been started. */
export function afterLoading(before: Ledger, name: string, loaded: GroupItems, now: number): Ledger {
	const entry = entryNamed(before, name);
	if (!entry || isUnderWay(entry)) return before;
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
function startReadable(ledger: Ledger, entry: LedgerEntry, { items, failures }: GroupItems, now: number): Ledger {
	const { group, due, failedReadings } = entry;
	const unreadable = failures.map(({ ids }) => ids);
	const readable = memberIds(group).filter((id) => !unreadable.flat().includes(id));
	const isRefused = failures.every(({ isFinal }) => isFinal);
	const mayExist = group.possibleExecution !== undefined;
	if (isRefused && readable.length === 0 && !mayExist) return withReport(closeGroup(ledger, entry), refusedReport(group, failures));
	if (isRefused && mayExist && entry.unanswered >= maxUnanswered) return withReport(closeGroup(ledger, entry), unansweredReport(group, failures));
	const mustWait = readable.length === 0 || mayExist;
	const isNews = (mustWait || !isRefused) && !ledger.isOutageReported && !entry.isUnreadReported;
	const noted = isNews ? withReport({ ...ledger, isOutageReported: true }, unreadReport(group, failures)) : ledger;
	const isUnreadReported = entry.isUnreadReported || isNews;
	if (mustWait) return replaceEntry(noted, entry, { ...entry, isUnreadReported });
	const parts = splitGroup(group, [readable, ...unreadable]).map((part) => entryOf(part, { due, failedReadings, isUnreadReported }));
	return startGroup(replaceEntry(noted, entry, ...parts), parts[0]!, items, now);
}

/** Has n8n start an execution, unless there is nothing to report about the records of the group. */
function startGroup(ledger: Ledger, entry: LedgerEntry, items: IDataObject[], now: number): Ledger {
	if (items.length === 0) return closeGroup(ledger, entry);
	const { group } = entry;
	const startNumber = ledger.startCount + 1;
	const execution: AwaitedExecution = {
		state: 'requested', stateAt: now, laterOutcomeAt: Infinity,
		firstStartNumber: entry.execution?.firstStartNumber ?? startNumber, lastStartNumber: startNumber,
		isEarlier: group.possibleExecution === 'earlier', isSilenceReported: entry.execution?.isSilenceReported ?? false,
	};
	const { rejections, denials } = entry;
	const started = entryOf({ ...group, possibleExecution: 'requested' }, { execution, rejections, denials });
	return withEffect(replaceEntry({ ...ledger, startCount: startNumber }, entry, started), { do: 'start', group, items, startNumber });
}

/**
 * Decides what the end of a start tells about the execution of its group. Of several starts, the last has replaced the
 * others, unless one of these had begun.
 */
export function afterEnd(
	ledger: Ledger, name: string, startNumber: number, { outcome, hasRun }: Pick<ExecutionEnd, 'outcome' | 'hasRun'>, rules: Rules,
): Ledger {
	const entry = entryNamed(ledger, name);
	const execution = entry?.execution;
	const isOfEarlierAttempt = !execution || startNumber < execution.firstStartNumber;
	if (isOfEarlierAttempt || (startNumber < execution.lastStartNumber && !hasRun)) return ledger;
	const isRepetition = startNumber > execution.firstStartNumber;
	// Its key is in use, so an earlier start has begun, and its end is awaited.
	if (isRepetition && outcome === 'unknown') return withExecution(ledger, entry, { state: 'running', stateAt: rules.now });
	// It could not be repeated, so it is still lost.
	if (isRepetition && outcome === 'rejected by n8n') return withExecution(ledger, entry, { laterOutcomeAt: rules.now });
	// That its key is in use, or that it was not started, proves nothing about the queue.
	const isEnd = outcome !== 'unknown' && outcome !== 'rejected by n8n';
	return conclude(isEnd ? noteOutcome(ledger, startNumber, rules.now) : ledger, entry, outcome, rules);
}

/** Closes a group whose execution has ended, or has it wait for its next start. */
export function conclude(ledger: Ledger, entry: LedgerEntry, outcome: Outcome, { now, doneWhen, attempts, afterCrash }: Rules): Ledger {
	const { group, execution } = entry;
	const { attempt, unbegun } = group;
	// As a copy, the group is stored again: n8n may not have stored it either.
	if (outcome === 'rejected by n8n') {
		const rejections = entry.rejections + 1;
		const possibleExecution = execution?.isEarlier ? 'earlier' : group.possibleExecution;
		const next = entryOf({ ...group, possibleExecution }, { due: now + delayAfter(rejections), rejections, denials: entry.denials });
		// Its database may be away.
		return withEffect(replaceEntry(ledger, entry, next), { do: 'ask', group, mayProbe: false });
	}
	const closed = closeGroup(ledger, entry);
	const setAside = withReport(closed, setAsideReport(group, outcome));
	if (outcome === 'ended before its first node') {
		if (unbegun + 1 >= maxUnbegun) return setAside;
		// Its key is used up although no execution ran.
		const next: Group = { ...group, unbegun: unbegun + 1, possibleExecution: undefined };
		return replaceEntry(ledger, entry, entryOf(next, { due: now + delayAfter(unbegun + 1) }));
	}
	const isEarlier = outcome === 'unknown' && execution?.isEarlier === true;
	if (isEarlier || doneWhen !== 'succeeded' || outcome === 'succeeded') return closed;
	// An execution that may have succeeded is not repeated.
	if (attempt >= attempts || (outcome === 'unknown' && afterCrash === 'setAside')) return setAside;
	const next: Group = { ...group, attempt: attempt + 1, possibleExecution: undefined };
	return replaceEntry(ledger, entry, entryOf(next, { due: now + (outcome === 'unknown' ? 0 : delayAfter(attempt)) }));
}

/** Notes an outcome, also for the starts before it: workers take jobs in order, so each of these is lost or has begun. */
export function noteOutcome(ledger: Ledger, startNumber: number, now: number): Ledger {
	const entries = ledger.entries.map((entry): LedgerEntry => {
		const { execution } = entry;
		if (!execution || execution.lastStartNumber >= startNumber) return entry;
		return { ...entry, execution: { ...execution, laterOutcomeAt: Math.min(execution.laterOutcomeAt, now) } };
	});
	return { ...ledger, entries, lastOutcomeAt: now };
}

/** Sets open groups aside that only an earlier beginning than the one of the position could read. */
export function abandonGroups(ledger: Ledger, { beginning }: Pick<Position, 'beginning'>): Ledger {
	const isAbandoned = (entry: LedgerEntry) => !isUnderWay(entry) && entry.group.beginning !== beginning && needsRecords(entry.group);
	const groups = ledger.entries.filter(isAbandoned).map(({ group }) => group);
	if (groups.length === 0) return ledger;
	return withReport({ ...ledger, entries: ledger.entries.filter((entry) => !isAbandoned(entry)) }, abandonedReport(groups));
}
