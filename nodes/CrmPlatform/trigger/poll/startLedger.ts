import type { Outcome } from './outcome';

/** An execution that n8n was asked to start, and whose outcome is unknown. */
interface Start {
	/** The number of its last emission: each start and each repetition of this trigger has a higher one. */
	lastEmission: number;
	/** Emissions before, which count again if n8n has not accepted the last one. */
	earlier: number[];
	/** Outcomes of emissions that do not count now. */
	otherOutcomes: Record<number, Ended>;
	/** When it was emitted last (Unix epoch ms). */
	at: number;
	/** How often its key was repeated. */
	repeats: number;
	/** Whether its group is done once the execution has begun. */
	isDoneWhenBegun: boolean;
	/** Whether n8n has refused the repeated key: the execution has begun. */
	hasBegun: boolean;
	/** When n8n first confirmed that its execution has begun (Unix epoch ms). */
	seenAt?: number | undefined;
	isReported: boolean;
	/** When the outcome of a later start was first known (Unix epoch ms). */
	overtakenAt?: number | undefined;
}

/** The end of an emission. */
interface Ended {
	outcome: Outcome;
	/** Whether n8n may have made up the failure of a job, so that n8n has to be asked for the execution. */
	isUntraced?: boolean | undefined;
}

/** The starts under way, by the name of the group. */
export interface StartLedger {
	starts: ReadonlyMap<string, Start>;
	/** When the outcome of a start was last known. */
	lastOutcomeAt: number;
	emissions: number;
	/** When an execution without items was started (Unix epoch ms). */
	probedAt: number;
}

export const noStarts: StartLedger = { starts: new Map(), lastOutcomeAt: 0, emissions: 0, probedAt: -Infinity };

/** Observations of n8n, shared by all triggers of this process and never stored. */
export interface SeenOfN8n {
	/** Whether executions run on workers; undefined until the first outcome is known. */
	onWorkers?: boolean;
	/** When n8n last failed to start an execution because its database was unavailable. */
	failedAt?: number;
}

export type StartEvent =
	| { is: 'begun'; name: string; isDoneWhenBegun: boolean }
	| ({ is: 'ended'; name: string; emission: number } & Ended)
	/** @param timeout of executions of this workflow (ms); undefined if its settings have none */
	| { is: 'time'; seen: SeenOfN8n; timeout: number | undefined; mayProbe: boolean }
	/** n8n was asked whether the execution of a start exists. */
	| { is: 'sought'; name: string; exists: boolean }
	| { is: 'probe ended'; emission: number }
	| { is: 'probe failed' };

export type StartEffect =
	| { do: 'emit'; name: string; emission: number }
	| { do: 'settle'; name: string; outcome: Outcome }
	/** Report that n8n has not said for an hour how the execution ended. */
	| { do: 'report'; name: string }
	/** Ask n8n whether the failure of an execution is real. */
	| { do: 'refine'; name: string; emission: number }
	/** Ask n8n for the execution of a start. */
	| { do: 'seek'; name: string }
	/** Run an execution without items: its end shows where executions run, and overtakes lost starts. */
	| { do: 'probe'; emission: number };

interface Step {
	ledger: StartLedger;
	effects: StartEffect[];
}

/** Milliseconds after which n8n has settled every start that it can. */
const settlingTime = 30_000;

/** Milliseconds without an outcome after which a probe checks whether a start waits for a worker. */
const probeAfter = 60_000;

/** Milliseconds without any outcome after which the oldest start counts as lost; doubles with each repetition. */
const maxSilence = 10 * 60_000;

/** Milliseconds after which an execution that has begun and whose end is unknown is reported to the user. */
const reportAfter = 60 * 60_000;

/** What a start of an execution becomes, and what is to be done. */
export function nextStarts(ledger: StartLedger, event: StartEvent, now: number): Step {
	switch (event.is) {
		case 'begun': {
			const { name, isDoneWhenBegun } = event;
			const start = { earlier: [], otherOutcomes: {}, repeats: 0, isDoneWhenBegun, hasBegun: false, isReported: false, lastEmission: 0, at: now };
			return emit(ledger, name, start, now);
		}
		case 'ended':
			return ended(ledger, event, now);
		case 'time':
			return check(ledger, event, now);
		case 'sought': {
			const start = ledger.starts.get(event.name);
			if (!start || !event.exists) return probe(ledger);
			return { ledger: { ...withStart(ledger, event.name, { ...start, seenAt: now }), probedAt: -Infinity }, effects: [] };
		}
		case 'probe ended':
			return { ledger: overtaken(ledger, event.emission, now), effects: [] };
		case 'probe failed':
			return { ledger: { ...ledger, probedAt: -Infinity }, effects: [] };
	}
}

const withStart = (ledger: StartLedger, name: string, start: Start): StartLedger =>
	({ ...ledger, starts: new Map(ledger.starts).set(name, start) });

function emit(ledger: StartLedger, name: string, start: Start, now: number): Step {
	const emission = ledger.emissions + 1;
	const earlier = start.lastEmission === 0 ? [] : [...start.earlier, start.lastEmission];
	const emitted = { ...start, earlier, lastEmission: emission, at: now, overtakenAt: undefined };
	return { ledger: { ...withStart(ledger, name, emitted), emissions: emission }, effects: [{ do: 'emit', name, emission }] };
}

function probe(ledger: StartLedger): Step {
	const emission = ledger.emissions + 1;
	return { ledger: { ...ledger, emissions: emission }, effects: [{ do: 'probe', emission }] };
}

/** Only the last emission counts, since each has replaced the one before, and a success always does. */
function ended(ledger: StartLedger, { name, emission, outcome, isUntraced }: Extract<StartEvent, { is: 'ended' }>, now: number): Step {
	const start = ledger.starts.get(name);
	if (!start || ![...start.earlier, start.lastEmission].includes(emission)) return { ledger, effects: [] };
	if (emission !== start.lastEmission && outcome !== 'succeeded') {
		const otherOutcomes = { ...start.otherOutcomes, [emission]: { outcome, isUntraced } };
		return { ledger: withStart(ledger, name, { ...start, otherOutcomes }), effects: [] };
	}
	if (isUntraced) return { ledger, effects: [{ do: 'refine', name, emission }] };
	const lastEmission = start.earlier.at(-1);
	if (lastEmission === undefined || !['unknown', 'rejected by n8n'].includes(outcome)) return settle(ledger, name, start, outcome, now);
	// n8n has not accepted the last emission, so the one before counts. If n8n knows the key, the execution has begun.
	const hasBegun = start.hasBegun || outcome === 'unknown';
	const seenAt = outcome === 'unknown' ? (start.seenAt ?? now) : start.seenAt;
	const before = { ...start, lastEmission, earlier: start.earlier.slice(0, -1), hasBegun, seenAt };
	const next = withStart(ledger, name, before);
	const otherOutcome = start.otherOutcomes[lastEmission];
	if (otherOutcome) return ended(next, { is: 'ended', name, emission: lastEmission, ...otherOutcome }, now);
	return outcome === 'unknown' ? settleBegun(next, name, before, now) : { ledger: next, effects: [] };
}

function settle(ledger: StartLedger, name: string, start: Start, outcome: Outcome, now: number): Step {
	const starts = new Map(ledger.starts);
	starts.delete(name);
	const next = { ...ledger, starts };
	// An execution that was not started proves nothing about the queue.
	const isProof = outcome !== 'rejected by n8n';
	return { ledger: isProof ? overtaken(next, start.lastEmission, now) : next, effects: [{ do: 'settle', name, outcome }] };
}

/** Settles a start that has begun, unless another had an outcome lately: then this one will get its own, and keeps its slot. */
function settleBegun(ledger: StartLedger, name: string, start: Start, now: number): Step {
	const isDone = start.hasBegun && start.isDoneWhenBegun && now - ledger.lastOutcomeAt >= settlingTime;
	return isDone ? settle(ledger, name, start, 'unknown', now) : { ledger, effects: [] };
}

/** Notes an outcome: workers take jobs in order, so a start before it is lost or has begun. */
function overtaken(ledger: StartLedger, emission: number, now: number): StartLedger {
	const note = (start: Start) => (start.lastEmission < emission ? { ...start, overtakenAt: start.overtakenAt ?? now } : start);
	return { ...ledger, lastOutcomeAt: now, starts: new Map([...ledger.starts].map(([name, start]) => [name, note(start)])) };
}

/** Repeats starts that n8n has lost, and reports those without an answer for a long time. */
function check(ledger: StartLedger, { seen, timeout, mayProbe }: Extract<StartEvent, { is: 'time' }>, now: number): Step {
	const { repeat, report, timedOut, doubtful } = checkStarts(ledger, { ...seen, timeout }, now);
	let next = ledger;
	const effects: StartEffect[] = [];
	const apply = (step: Step) => {
		next = step.ledger;
		effects.push(...step.effects);
	};
	const each = (names: Iterable<string>, change: (name: string, start: Start) => Step) => {
		for (const name of names) {
			const start = next.starts.get(name);
			if (start) apply(change(name, start));
		}
	};
	each(repeat, (name, start) => emit(next, name, { ...start, repeats: start.repeats + 1 }, now));
	each(report, (name, start) => ({ ledger: withStart(next, name, { ...start, isReported: true }), effects: [{ do: 'report', name }] }));
	each(timedOut, (name, start) => settle(next, name, start, 'failed', now));
	each(ledger.starts.keys(), (name, start) => settleBegun(next, name, start, now));
	const start = doubtful === undefined ? undefined : next.starts.get(doubtful);
	if (start && mayProbe && now - ledger.probedAt >= maxSilence) {
		next = { ...next, probedAt: now };
		apply(start.seenAt === undefined ? { ledger: next, effects: [{ do: 'seek', name: doubtful! }] } : probe(next));
	}
	return { ledger: next, effects };
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
 *
 * @returns the names of the starts to repeat, of those to report to the user, of those that n8n has stopped without
 * reporting it (a worker's timeout; workflow-runner, processError), and of one that may be lost
 */
function checkStarts(
	{ starts, lastOutcomeAt }: Pick<StartLedger, 'starts' | 'lastOutcomeAt'>,
	{ onWorkers, failedAt, timeout }: SeenOfN8n & { timeout?: number | undefined },
	now: number,
): { repeat: string[]; report: string[]; timedOut: string[]; doubtful?: string | undefined } {
	if (onWorkers === false) return { repeat: [], report: [], timedOut: [] };
	const isPast = (instant: number | undefined, ms: number) => instant !== undefined && now - instant >= ms;
	const open = [...starts].filter(([, { hasBegun }]) => !hasBegun).sort(([, a], [, b]) => a.lastEmission - b.lastEmission);
	const namesOf = (entries: Array<[string, Start]>, isMeant: (start: Start) => boolean) =>
		entries.filter(([, start]) => isMeant(start)).map(([name]) => name);

	const repeat = namesOf(open, ({ at, overtakenAt }) => {
		const wasFailing = failedAt !== undefined && failedAt >= at - settlingTime && isPast(failedAt, settlingTime);
		return isPast(overtakenAt, settlingTime) || (wasFailing && isPast(at, settlingTime));
	});
	const [[oldestName, oldest] = []] = open;
	if (repeat.length === 0 && oldest && isPast(Math.max(oldest.at, lastOutcomeAt), maxSilence * 2 ** oldest.repeats)) repeat.push(oldestName!);
	const isUnknown = onWorkers === undefined;
	// In the main process, an execution may take longer than `reportAfter`.
	const report = namesOf([...starts], ({ at, hasBegun, seenAt, isReported }) =>
		(hasBegun || (isUnknown && seenAt === undefined)) && !isReported && isPast(at, reportAfter));
	const timedOut = namesOf([...starts], ({ seenAt }) => timeout !== undefined && isPast(seenAt, timeout + probeAfter));
	if (repeat.length > 0 && !isUnknown) return { repeat, report, timedOut };
	const untilDoubt = isUnknown ? reportAfter : Infinity;
	const [doubtful] = namesOf(open, ({ at, seenAt }) => isPast(at, seenAt === undefined ? probeAfter : untilDoubt));
	return { repeat: [], report, timedOut, doubtful };
}
