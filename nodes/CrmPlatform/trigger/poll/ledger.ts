import type { IDataObject } from 'n8n-workflow';

import type { Outcome } from './execution';
import { isRunning, type Ledger, openGroup, type OpenGroup, replaced, withExecution } from './openGroups';
import type { PollOptions } from './pollProperties';
import { type Group, memberIds, needsRecords, type Position, splitGroup } from './position';
import { abandoned, type LoadFailure, type Report, setAside, silent, unread } from './reports';

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
	| { do: 'report'; report: Report };

type EventOf<Is extends LedgerEvent['is']> = Extract<LedgerEvent, { is: Is }>;

/** What decides beside the ledger and the event. */
interface Rules extends Pick<PollOptions, 'doneWhen' | 'attempts' | 'afterCrash'> {
	/** Unix epoch milliseconds. */
	now: number;
}

/** What follows from an event. */
interface Next {
	ledger: Ledger;
	effects: LedgerEffect[];
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

export function nextLedger(ledger: Ledger, event: LedgerEvent, options: Omit<Rules, 'now'>, now: number): Next {
	const rules = { ...options, now };
	if (event.is === 'time') return afterTime(ledger, event, rules);
	if (event.is === 'probed') return quiet(event.wasStarted ? overtaken(ledger, event.emission, now) : { ...ledger, probedAt: -Infinity });
	const entry = ledger.open.find(({ group }) => group.name === event.name);
	if (!entry) return quiet(ledger);
	if (event.is === 'sought') return afterSearch(ledger, entry, event, rules);
	return event.is === 'loaded' ? afterLoading(ledger, entry, event, now) : afterEnd(ledger, entry, event, rules);
}

const quiet = (ledger: Ledger): Next => ({ ledger, effects: [] });

const reporting = (ledger: Ledger, report: Report): Next => ({ ledger, effects: [{ do: 'report', report }] });

/** What follows from several steps, one after the other. */
const inTurn = (ledger: Ledger, steps: Array<(ledger: Ledger) => Next>): Next =>
	steps.reduce((before, step) => {
		const after = step(before.ledger);
		return { ledger: after.ledger, effects: [...before.effects, ...after.effects] };
	}, quiet(ledger));

/** Starts a group that was read. One that cannot be read is postponed, then starts without what cannot be read. */
function afterLoading(ledger: Ledger, entry: OpenGroup, { items, failures }: EventOf<'loaded'>, now: number): Next {
	if (isRunning(entry)) return quiet(ledger);
	if (failures.length === 0) return started({ ...ledger, isOutageReported: false }, entry, items, now);
	const { group } = entry;
	const failedReadings = entry.failedReadings + 1;
	const delay = { failedReadings, due: now + delayAfter(failedReadings) };
	if (failedReadings < maxRefusals) return quiet(replaced(ledger, entry, { ...entry, ...delay }));
	const failed = failures.map(({ ids }) => ids);
	const readable = memberIds(group).filter((id) => !failed.flat().includes(id));
	const isRefused = failures.every(({ isFinal }) => isFinal);
	if (isRefused && readable.length === 0) return reporting(replaced(ledger, entry), unread(group, failures, 'set aside'));
	const isNews = !isRefused && !ledger.isOutageReported && !entry.isReported;
	const noticed = isNews ? reporting({ ...ledger, isOutageReported: true }, unread(group, failures, 'waits')) : quiet(ledger);
	const postponed = { ...entry, ...delay, isReported: entry.isReported || isNews };
	if (readable.length === 0) return { ...noticed, ledger: replaced(noticed.ledger, entry, postponed) };
	const groups = splitGroup(group, [readable, ...failed]).map((each) => openGroup(each, { ...delay, isReported: postponed.isReported }));
	return inTurn(ledger, [() => noticed, (next) => started(replaced(next, entry, ...groups), groups[0]!, items, now)]);
}

/** Has n8n start an execution, unless there is nothing to report about the records of the group. */
function started(ledger: Ledger, entry: OpenGroup, items: IDataObject[], now: number): Next {
	if (items.length === 0) return quiet(replaced(ledger, entry));
	const { group } = entry;
	const emission = ledger.emissions + 1;
	const { first, wasEmitted, isReported } = entry.execution ?? { first: emission, wasEmitted: group.isEmitted ?? false, isReported: false };
	const execution = { state: 'started', since: now, first, last: emission, overtakenAt: Infinity, wasEmitted, isReported } as const;
	return {
		ledger: replaced({ ...ledger, emissions: emission }, entry, openGroup({ ...group, isEmitted: true }, { execution })),
		effects: [{ do: 'emit', group, items, emission }],
	};
}

/** Of a start that was repeated, the last emission has replaced the one before, unless a node of that has run. */
function afterEnd(ledger: Ledger, entry: OpenGroup, { emission, outcome, hasRun }: EventOf<'ended'>, rules: Rules): Next {
	const { execution } = entry;
	if (!execution || emission < execution.first || (emission < execution.last && !hasRun)) return quiet(ledger);
	const isRepetition = emission > execution.first;
	// Its key is known, so it has begun.
	if (isRepetition && outcome === 'unknown') return quiet(withExecution(ledger, entry, { state: 'begun', since: rules.now }));
	// It could not be repeated, so it is still lost.
	if (isRepetition && outcome === 'rejected by n8n') return quiet(withExecution(ledger, entry, { overtakenAt: rules.now }));
	return finished(ledger, entry, outcome, rules);
}

/** Closes a group whose execution has ended, or has it wait for its next start. */
function finished(before: Ledger, entry: OpenGroup, outcome: Outcome, rules: Rules): Next {
	const { group, execution } = entry;
	// An execution that was not started proves nothing about the queue.
	const ledger = execution && outcome !== 'rejected by n8n' ? overtaken(before, execution.last, rules.now) : before;
	const fate = fateOf(entry, outcome, rules);
	if (fate.is === 'again') return quiet(replaced(ledger, entry, openGroup({ ...group, ...fate.next }, { due: rules.now + fate.delay })));
	const closed = replaced(ledger, entry);
	return fate.is === 'done' ? quiet(closed) : reporting(closed, setAside(group, outcome));
}

/** After an outcome: workers take jobs in order, so a start before it is lost or has begun. */
function overtaken(ledger: Ledger, emission: number, now: number): Ledger {
	const open = ledger.open.map((entry): OpenGroup => {
		const { execution } = entry;
		if (!execution || execution.last >= emission) return entry;
		return { ...entry, execution: { ...execution, overtakenAt: Math.min(execution.overtakenAt, now) } };
	});
	return { ...ledger, open, lastOutcomeAt: now };
}

/** What becomes of a group whose execution has ended. @param delay in milliseconds */
type Fate = { is: 'done' } | { is: 'set aside' } | { is: 'again'; delay: number; next: Partial<Group> };

function fateOf({ group, execution }: OpenGroup, outcome: Outcome, { doneWhen, attempts, afterCrash }: Rules): Fate {
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
function afterTime(ledger: Ledger, event: EventOf<'time'>, rules: Rules): Next {
	const names = event.onWorkers === false ? [] : ledger.open.flatMap(({ group, execution }) => (execution ? [group.name] : []));
	return inTurn(ledger, [
		...names.map((name) => (next: Ledger) => waited(next, name, event, rules)),
		(next) => searched(next, event, rules.now),
		(next) => withoutAbandoned(next, event),
	]);
}

/** Decides about an execution whose end is unknown, as some time has passed. */
function waited(ledger: Ledger, name: string, { onWorkers, timeout }: EventOf<'time'>, rules: Rules): Next {
	const { now } = rules;
	const entry = ledger.open.find(({ group }) => group.name === name)!;
	const { state, since, overtakenAt, isReported } = entry.execution!;
	// n8n does not report an execution that it has stopped on a worker (workflow-runner, processError).
	if ((state === 'found' || state === 'begun') && now - since >= timeout + probeAfter) return finished(ledger, entry, 'failed', rules);
	// If another had an outcome lately, this one will get its own, and keeps its slot.
	const isSettled = now - ledger.lastOutcomeAt >= settlingTime;
	if (state === 'begun' && rules.doneWhen === 'started' && isSettled) return finished(ledger, entry, 'unknown', rules);
	const isLost = state !== 'begun' && onWorkers === true && now - overtakenAt >= settlingTime;
	if (isLost) return quiet(withExecution(ledger, entry, { state: 'lost', since: now }));
	// In the main process, an execution may take longer.
	const isSilent = state === 'begun' || (state === 'started' && onWorkers === undefined);
	if (!isSilent || isReported || now - since < reportAfter) return quiet(ledger);
	return reporting(withExecution(ledger, entry, { isReported: true }), silent(entry.group));
}

/** Asks n8n for the start that has had no outcome for longest, or runs an execution that overtakes it. */
function searched(ledger: Ledger, { onWorkers, mayProbe }: EventOf<'time'>, now: number): Next {
	const isLost = ledger.open.some(({ execution }) => execution?.state === 'lost');
	if (onWorkers === false || !mayProbe || isLost || now - ledger.probedAt < probeInterval) return quiet(ledger);
	const patience = { started: probeAfter, found: onWorkers === undefined ? reportAfter : Infinity, begun: Infinity, lost: Infinity };
	const [doubtful] = ledger.open
		.flatMap(({ group, execution }) => (execution && now - execution.since >= patience[execution.state] ? [{ group, ...execution }] : []))
		.sort((a, b) => a.last - b.last);
	if (!doubtful) return quiet(ledger);
	const noted = { ...ledger, probedAt: now };
	return doubtful.state === 'started' ? { ledger: noted, effects: [{ do: 'seek', group: doubtful.group }] } : probing(noted);
}

const probing = (ledger: Ledger): Next => {
	const emission = ledger.emissions + 1;
	return { ledger: { ...ledger, emissions: emission }, effects: [{ do: 'probe', emission }] };
};

/** Applies what n8n said about the execution of a group. */
function afterSearch(ledger: Ledger, entry: OpenGroup, { exists }: EventOf<'sought'>, rules: Rules): Next {
	const { group, execution } = entry;
	if (!execution) return exists && group.isEmitted ? finished(ledger, entry, 'unknown', rules) : quiet(ledger);
	if (!exists) return probing(ledger);
	const next = { ...ledger, probedAt: -Infinity };
	return quiet(execution.state === 'started' ? withExecution(next, entry, { state: 'found', since: rules.now }) : next);
}

/** Sets open groups aside that only an earlier beginning could read. */
function withoutAbandoned(ledger: Ledger, { beginning }: EventOf<'time'>): Next {
	const isAbandoned = (entry: OpenGroup) => !isRunning(entry) && entry.group.start !== beginning && needsRecords(entry.group);
	const groups = ledger.open.filter(isAbandoned).map(({ group }) => group);
	if (groups.length === 0) return quiet(ledger);
	return reporting({ ...ledger, open: ledger.open.filter((entry) => !isAbandoned(entry)) }, abandoned(groups));
}
