import type { IExecuteResponsePromiseData, INodeExecutionData, IRun, ITriggerFunctions } from 'n8n-workflow';

import type { Clock } from '../../base/clock';
import { endedUnseen, executionOutcome, outcomeOfAnswer, outcomeOfError, silentError, type Outcome } from './outcome';
import type { Group } from './position';
import { hasExecution, tellsFailures } from '../unwritable';
import { reportFailure } from '../reportFailure';
import {
	checkStarts,
	failedBeforeBeginning,
	settlingTime,
	hasNoTrace,
	maxSilence,
	ranOnWorker,
	type SeenOfN8n,
	type UnsettledStart,
} from './unsettledStarts';

/**
 * Maximum milliseconds between n8n's answer for an execution and its run. If a worker is faster than the
 * main process, n8n never returns the run: Bull removes a finished job at once (removeOnComplete; since
 * 2.30 keepLastCompleted, which is 0), and the main process waits for a job that is gone
 * (workflow-runner, enqueueExecution; the same in 2.11, 2.20, 2.30, 2.33, 2.35, 2.38, 2.40 and 2.41).
 */
const maxTimeWithoutRun = 15_000;

/** A start and its callbacks. */
interface StartRequest {
	group: Group;
	items: INodeExecutionData[];
	/** Whether the group is done once its execution has begun. */
	isDoneWhenBegun: boolean;
	settle(outcome: Outcome): void;
}

interface OpenStart extends StartRequest, UnsettledStart {
	/** The emissions that n8n may have accepted. Only the last one counts, since each has replaced the one before. */
	emissions: number[];
	/** Outcomes of emissions that do not count now. */
	otherOutcomes: Map<number, () => Promise<Outcome>>;
}

/** Callbacks for n8n's answers on an execution. */
interface Answers {
	/** Called when it has ended: with its run, or with n8n's answer alone. */
	ended(outcome: Outcome, run?: IRun): void;
	failed(error: Error): void;
}

let seen: SeenOfN8n = {};

/** Clears the memory of this process, as a restart would. */
export function forgetN8n(): void {
	seen = {};
}

function noteWhereItRan(run: IRun | undefined): void {
	const onWorkers = hasNoTrace(run) ? undefined : ranOnWorker(run);
	// The run of a worker that was considered dead has lost its job (workflow-runner, processError).
	if (onWorkers !== undefined) seen.onWorkers = seen.onWorkers || onWorkers;
}

/** Starts executions, and follows them until their outcome is known. */
export class Starts {
	private readonly open = new Map<string, OpenStart>();
	private lastOutcomeAt = 0;
	private emissionCount = 0;
	/** When an execution without items was started (Unix epoch ms). */
	private probedAt = -Infinity;
	private readonly clock: Clock;

	constructor(clock: Clock) {
		this.clock = clock;
	}

	/** The number of starts under way. */
	get size(): number {
		return this.open.size;
	}

	has(name: string): boolean {
		return this.open.has(name);
	}

	begin(n8n: ITriggerFunctions, start: StartRequest): void {
		const unsettled = { lastEmission: 0, at: 0, repeats: 0, hasBegun: false, isReported: false };
		const open = { ...start, ...unsettled, emissions: [], otherOutcomes: new Map() };
		this.open.set(start.group.name, open);
		this.emit(n8n, open);
	}

	/** Repeats starts that n8n has lost, and reports those without an answer for a long time. */
	check(n8n: ITriggerFunctions): void {
		const { executionTimeout = 0 } = n8n.getWorkflowSettings();
		const timeout = executionTimeout > 0 ? executionTimeout * 1000 : undefined;
		const observations = { ...seen, lastOutcomeAt: this.lastOutcomeAt, timeout };
		const { repeat, report, timedOut, doubtful } = checkStarts([...this.open.values()], observations, this.clock.now());
		for (const start of repeat) {
			start.repeats += 1;
			this.emit(n8n, start);
		}
		for (const start of report) {
			start.isReported = true;
			reportFailure(n8n, silentError(n8n.getNode(), start.group));
		}
		for (const start of timedOut) this.settle(start, 'failed');
		for (const start of this.open.values()) if (start.hasBegun) this.settleBegun(start);
		if (doubtful) void this.probe(n8n, doubtful);
	}

	/**
	 * Has n8n run an execution without items, in which no node after the trigger runs. Its run shows where
	 * executions run, and overtakes lost starts.
	 *
	 * @param start the start that may be lost, or wait for a worker
	 */
	private async probe(n8n: ITriggerFunctions, start: OpenStart): Promise<void> {
		const now = this.clock.now();
		// n8n would add an empty item, and the next nodes would run.
		if (n8n.getNode().alwaysOutputData || now - this.probedAt < maxSilence) return;
		this.probedAt = now;
		const allowProbe = (): void => void (this.probedAt = -Infinity);
		if (start.seenAt === undefined && (await hasExecution(n8n, executionKey(n8n, start.group), this.clock))) {
			start.seenAt = this.clock.now();
			return allowProbe();
		}
		const emission = (this.emissionCount += 1);
		const ended = () => this.noteOutcome(emission);
		this.run(n8n, [], undefined, { ended, failed: allowProbe });
	}

	private emit(n8n: ITriggerFunctions, start: OpenStart): void {
		const emission = (this.emissionCount += 1);
		start.emissions.push(emission);
		Object.assign(start, { lastEmission: emission, at: this.clock.now(), overtakenAt: undefined });
		this.run(n8n, start.items, executionKey(n8n, start.group), {
			ended: (outcome, run) => void this.handleOutcome(start, emission, outcome, async () => await this.outcomeOf(n8n, start, outcome, run)),
			failed: (error) => {
				const outcome = outcomeOfError(error);
				if (outcome === 'rejected by n8n' && !endedUnseen(error)) seen.failedAt = this.clock.now();
				void this.handleOutcome(start, emission, outcome);
			},
		});
	}

	private run(n8n: ITriggerFunctions, items: INodeExecutionData[], key: string | undefined, { ended, failed }: Answers): void {
		const runWait = new AbortController();
		const done = n8n.helpers.createDeferredPromise<IRun | undefined>();
		done.promise.then(
			(run) => {
				runWait.abort();
				noteWhereItRan(run);
				ended(executionOutcome(run), run);
			},
			(error: Error) => {
				runWait.abort();
				failed(error);
			},
		);
		const answer = n8n.helpers.createDeferredPromise<IExecuteResponsePromiseData>();
		const endByAnswer = async (): Promise<void> => {
			const outcome = outcomeOfAnswer(await answer.promise);
			if (outcome === undefined) return;
			await this.clock.sleep(maxTimeWithoutRun, runWait.signal);
			if (runWait.signal.aborted) return;
			seen.onWorkers = true;
			ended(outcome);
		};
		endByAnswer().catch(() => undefined);
		n8n.emit([items], answer, done as never, key);
	}

	/** If a job failed while n8n's database was unavailable, its execution may not have begun, and never would. */
	private async outcomeOf(n8n: ITriggerFunctions, { group }: OpenStart, outcome: Outcome, run: IRun | undefined): Promise<Outcome> {
		if (outcome !== 'failed' || seen.onWorkers === false || !hasNoTrace(run)) return outcome;
		if (!(await hasExecution(n8n, executionKey(n8n, group), this.clock))) return 'rejected by n8n';
		return failedBeforeBeginning(run) && (await tellsFailures(n8n, this.clock)) ? 'ended before its first node' : outcome;
	}

	/**
	 * @param emission the emission that the outcome belongs to
	 * @param refine asks n8n for details of the outcome, which only the emission that counts needs
	 */
	private async handleOutcome(start: OpenStart, emission: number, reported: Outcome, refine = async () => reported): Promise<void> {
		if (this.open.get(start.group.name) !== start) return;
		const counts = (): boolean => emission === start.lastEmission || reported === 'succeeded';
		const outcome = counts() ? await refine() : reported;
		if (this.open.get(start.group.name) !== start) return;
		if (!counts()) {
			start.otherOutcomes.set(emission, refine);
		} else if (start.emissions.length === 1 || !['unknown', 'rejected by n8n'].includes(outcome)) {
			this.settle(start, outcome);
		} else {
			this.fallBack(start, outcome === 'unknown');
		}
	}

	/** Forgets the last emission, which n8n has not accepted, so that the one before counts. */
	private fallBack(start: OpenStart, hasBegun: boolean): void {
		start.emissions.pop();
		start.lastEmission = start.emissions.at(-1)!;
		// n8n knows the key: the execution has begun, and only the previous emission reports its end.
		start.hasBegun ||= hasBegun;
		if (hasBegun) start.seenAt ??= this.clock.now();
		const refine = start.otherOutcomes.get(start.lastEmission);
		if (refine) void refine().then((outcome) => void this.handleOutcome(start, start.lastEmission, outcome));
		else if (hasBegun) this.settleBegun(start);
	}

	/**
	 * Settles a start that has begun, unless another start had an outcome lately: then this one will get its own, and keeps
	 * its slot until then.
	 */
	private settleBegun(start: OpenStart): void {
		if (start.isDoneWhenBegun && this.clock.now() - this.lastOutcomeAt >= settlingTime) this.settle(start, 'unknown');
	}

	private settle(start: OpenStart, outcome: Outcome): void {
		this.open.delete(start.group.name);
		// An execution that was not started proves nothing about the queue.
		if (outcome !== 'rejected by n8n') this.noteOutcome(start.lastEmission);
		start.settle(outcome);
	}

	private noteOutcome(emission: number): void {
		this.lastOutcomeAt = this.clock.now();
		for (const start of this.open.values()) if (start.lastEmission < emission) start.overtakenAt ??= this.lastOutcomeAt;
	}
}

/** A key that is unique in the n8n instance, and equal for every start of this group and attempt, whatever the position. */
export function executionKey(n8n: ITriggerFunctions, { name, attempt, unbegun }: Group): string {
	return `${String(n8n.getWorkflow().id)}:${n8n.getNode().id}:${name}:${attempt + unbegun}`;
}
