import type { Report } from '../triggerContext';
import type { ExecutionEnd, Existence, Outcome } from './n8nExecutions';
import {
	type StartedExecution, closeGroup, type Decided, delayAfter, entryNamed, entryOf, isUnderWay, type Ledger,
	type LedgerEntry, replaceEntry, setAside, withEffect, withReport, type Group, memberIds, memberNoun, membersText,
} from './ledger';
import type { PollOptions } from './pollSettings';

/** What decides beside the ledger and what has happened. */
export interface OutcomeSettings extends Pick<PollOptions, 'doneWhen' | 'attempts' | 'afterCrash'> {
	/** Unix epoch milliseconds. */
	now: number;
}

/** Maximum number of executions of a group that n8n does not start, or ends before they begin. */
const maxUnbegun = 10;

/**
 * Decides what the end of a start tells about the execution of its group. Of several starts, the last has replaced the
 * others, unless one of these had begun.
 */
export function afterEnd(
	ledger: Ledger, name: string, startNumber: number, { outcome, hasRun }: ExecutionEnd, rules: OutcomeSettings,
): Decided {
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
function conclude(ledger: Decided, entry: LedgerEntry, outcome: Outcome, { now, doneWhen, attempts, afterCrash }: OutcomeSettings): Decided {
	const { group, execution } = entry;
	const { attempt, unbegun } = group;
	// As a copy, the group is stored again: n8n may not have stored it either.
	if (outcome === 'rejected by n8n') {
		const rejections = entry.rejections + 1;
		// n8n may have started one nevertheless, and not have said so.
		const isEarlierPossible = execution?.possibleBefore !== undefined && execution.possibleBefore !== 'ofStart';
		const possibleExecution = isEarlierPossible ? 'ofEither' : group.possibleExecution;
		const next = entryOf({ ...group, possibleExecution }, { due: now + delayAfter(rejections), rejections, absences: entry.absences });
		// Its database may be away.
		return withEffect(replaceEntry(ledger, entry, next), { do: 'ask', group, mayProbe: false });
	}
	if (outcome === 'ended before its first node') {
		if (unbegun + 1 >= maxUnbegun) return setAsideAfter(ledger, entry, outcome);
		// Its key is used up although no execution ran.
		const next: Group = { ...group, unbegun: unbegun + 1, possibleExecution: undefined };
		return replaceEntry(ledger, entry, entryOf(next, { due: now + delayAfter(unbegun + 1) }));
	}
	const found = outcome === 'unknown' ? execution?.possibleBefore ?? group.possibleExecution : undefined;
	if (found === 'ofEarlierReading' || doneWhen !== 'succeeded' || outcome === 'succeeded') return closeGroup(ledger, entry);
	// An execution that may have succeeded is not repeated.
	const isSetAside = outcome === 'unknown' && (afterCrash === 'setAside' || found === 'ofEither');
	if (attempt >= attempts || isSetAside) return setAsideAfter(ledger, entry, outcome);
	const next: Group = { ...group, attempt: attempt + 1, possibleExecution: undefined };
	return replaceEntry(ledger, entry, entryOf(next, { due: now + (outcome === 'unknown' ? 0 : delayAfter(attempt)) }));
}

const withExecution = (ledger: Decided, entry: LedgerEntry, change: Partial<StartedExecution>): Decided =>
	replaceEntry(ledger, entry, { ...entry, execution: { ...entry.execution!, ...change } });

/** Notes an outcome, also for the starts before it: workers take jobs in order, so each of these is lost or has begun. */
function noteOutcome(ledger: Decided, startNumber: number, now: number): Decided {
	const entries = ledger.entries.map((entry): LedgerEntry => {
		const { execution } = entry;
		if (!execution || execution.lastStartNumber >= startNumber) return entry;
		return { ...entry, execution: { ...execution, laterOutcomeAt: Math.min(execution.laterOutcomeAt, now) } };
	});
	return { ...ledger, entries, lastOutcomeAt: now };
}

/** Milliseconds after which n8n has settled every start that it can. */
const settlingTime = 30_000;

/** Milliseconds without an outcome after which a start may wait for a worker, or be lost. */
const probeAfter = 60_000;

/** Milliseconds between two probes. */
const probeInterval = 10 * 60_000;

/** Milliseconds after which an execution that has begun and whose end is unknown is reported to the user. */
const reportAfter = 60 * 60_000;

/** How n8n runs executions of this workflow. */
interface N8nState {
	/** Whether they run on workers; undefined until the first outcome is known. */
	onWorkers: boolean | undefined;
	/** After how long they time out (ms); Infinity if the settings have no timeout. */
	timeout: number;
	mayProbe: boolean;
}

/**
 * Decides about starts that n8n has not settled.
 *
 * In queue mode, n8n 2.41 never settles a start if its database was unavailable at that moment, or if Redis has lost the job. The execution is
 * then `new` without a job, and repeating its key replaces it (execution-persistence, reclaimTombstone, since 2.32). If the job merely waits
 * for a worker, repeating fails it, which starts the error workflow. Hence it needs a reason: once a later start has had an outcome, this one
 * is lost or has begun.
 *
 * In the main process, no start is repeated: one that waits for the concurrency limit runs although its execution was replaced. There,
 * n8n 2.35 and later settles each start. Until the first outcome, it is unknown where executions run, and the first ones may be lost.
 */
export function afterTime(before: Ledger, n8nState: N8nState, rules: OutcomeSettings): Decided {
	let ledger: Decided = before;
	if (n8nState.onWorkers === false) return ledger;
	for (const entry of before.entries.filter(isUnderWay)) ledger = afterSilence(ledger, entry, n8nState, rules);
	return n8nState.mayProbe ? askForOldest(ledger, n8nState, rules.now) : ledger;
}

/** When to decide about starts again that n8n has not settled (Unix epoch ms); Infinity if it settles all of them. */
export const nextCheck = ({ entries }: Ledger, onWorkers: N8nState['onWorkers'], now: number): number =>
	(onWorkers !== false && entries.some(isUnderWay) ? now + settlingTime : Infinity);

function afterSilence(ledger: Decided, entry: LedgerEntry, { onWorkers, timeout }: N8nState, rules: OutcomeSettings): Decided {
	const { now, doneWhen } = rules;
	const { state, stateAt, laterOutcomeAt, isSilenceReported } = entry.execution!;
	const silence = now - stateAt;
	// Workers take jobs in order, so it has begun.
	if (state === 'found' && laterOutcomeAt < Infinity) return withExecution(ledger, entry, { state: 'running', stateAt: laterOutcomeAt });
	// n8n does not report an execution that it has stopped on a worker (workflow-runner, processError), which has counted its timeout.
	if (state === 'running' && silence >= timeout + probeAfter) return conclude(ledger, entry, 'failed', rules);
	// It has begun, which is enough. If another had an outcome lately, this one will get its own, and keeps its slot.
	if (state === 'running' && doneWhen === 'started' && now - ledger.lastOutcomeAt >= settlingTime) return conclude(ledger, entry, 'unknown', rules);
	// It has not begun although a later one has ended.
	if (state === 'requested' && onWorkers === true && now - laterOutcomeAt >= settlingTime) return withExecution(ledger, entry, { state: 'lost', stateAt: now });
	// What waits for a worker may wait a long time, and where one runs that n8n has, a probe will show.
	const isExpected = state === 'requested' ? onWorkers === true : state === 'found' && onWorkers === undefined;
	if (isExpected || isSilenceReported || silence < reportAfter) return ledger;
	return withReport(withExecution(ledger, entry, { isSilenceReported: true }), silentReport(entry.group));
}

/**
 * Asks n8n for the oldest start that has had no outcome for long; starts a probe if n8n has it, and may run it anywhere or stop it
 * after a timeout, which begins on the worker (job-processor).
 */
function askForOldest(ledger: Decided, { onWorkers, timeout }: N8nState, now: number): Decided {
	const executions = ledger.entries.flatMap(({ group, execution }) => (execution ? [{ group, ...execution }] : []));
	const isOneLost = executions.some(({ state }) => state === 'lost');
	if (isOneLost || now - ledger.probedAt < probeInterval) return ledger;
	const [oldest] = executions
		.filter(({ state, stateAt }) => (state === 'requested' && now - stateAt >= probeAfter) ||
			(state === 'found' && (timeout < Infinity || (onWorkers === undefined && now - stateAt >= reportAfter))))
		.sort((a, b) => a.lastStartNumber - b.lastStartNumber);
	if (!oldest) return ledger;
	const next = { ...ledger, probedAt: now };
	return oldest.state === 'found' ? probe(next) : withEffect(next, { do: 'ask', group: oldest.group, mayProbe: true });
}

function probe(ledger: Decided): Decided {
	const startNumber = ledger.startCount + 1;
	return withEffect({ ...ledger, startCount: startNumber }, { do: 'probe', startNumber });
}

export const afterProbe = (ledger: Ledger, startNumber: number, outcome: Outcome, now: number): Decided =>
	(outcome === 'rejected by n8n' ? { ...ledger, probedAt: -Infinity } : noteOutcome(ledger, startNumber, now));

/** Decides what follows from n8n's answer whether it has an execution of a group. @param mayProbe as in the effect */
export function afterAnswer(ledger: Ledger, name: string, existence: Existence, mayProbe: boolean, rules: OutcomeSettings): Decided {
	const entry = entryNamed(ledger, name);
	if (!entry) return ledger;
	const { group, execution } = entry;
	if (isUnderWay(entry)) {
		// It may be lost: the end of a probe would show that.
		if (existence !== 'yes') return mayProbe ? probe(ledger) : ledger;
		const next = { ...ledger, probedAt: -Infinity };
		return execution?.state === 'requested' ? withExecution(next, entry, { state: 'found', stateAt: rules.now }) : next;
	}
	const isOfEarlierAttempt = group.possibleExecution === undefined;
	if (isOfEarlierAttempt || existence === 'no database') return ledger;
	if (existence === 'no answer') return replaceEntry(ledger, entry, { ...entry, unanswered: entry.unanswered + 1 });
	if (existence === 'no') {
		const absences = entry.absences + 1;
		if (absences >= maxUnbegun) return setAsideAfter(ledger, entry, 'rejected by n8n');
		return replaceEntry(ledger, entry, { ...entry, group: { ...group, possibleExecution: undefined }, execution: undefined, absences });
	}
	if (execution) return withExecution(ledger, entry, { state: 'running', stateAt: rules.now });
	return conclude(ledger, entry, 'unknown', rules);
}

function setAsideAfter(ledger: Decided, entry: LedgerEntry, outcome: Outcome): Decided {
	const { attempt, unbegun } = entry.group;
	const mayBeEarlier = [entry.group.possibleExecution, entry.execution?.possibleBefore].includes('ofEither');
	const retry = 'Find the failed executions in the list, and retry the last one once its cause is fixed';
	const reasons: Partial<Record<Outcome, [why: string, advice: string]>> = {
		unknown: [`n8n ${mayBeEarlier ? 'has an execution, and did not say how it ended' : 'stopped during the execution'}, so its outcome is unknown`, 'Check what the execution has done, and retry it if it has not finished'],
		'rejected by n8n': ['n8n could not start an execution, ten times', 'Find the reason in n8n’s log, then handle them yourself'],
		'ended before its first node': [`n8n ended ${unbegun + 1} executions before they began`, retry],
	};
	const [why, advice] = reasons[outcome] ?? [attempt === 1 ? 'the execution failed' : `${attempt} executions failed`, retry];
	return setAside(ledger, entry, `set aside: ${why}`, advice);
}

const silentReport = (group: Group): Report => ({
	message: `For an hour, n8n has not reported how the execution for ${membersText(memberNoun(group), memberIds(group), 'the')} ended`,
	description:
		'The trigger waits for it. If the list of executions does not show it as running, n8n has lost it: restart the main process of n8n, and the trigger continues.',
});
