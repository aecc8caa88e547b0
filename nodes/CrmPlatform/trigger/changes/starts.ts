import type { IExecuteResponsePromiseData, INodeExecutionData, IRun, ITriggerFunctions } from 'n8n-workflow';

import type { Clock } from '../../api/http/request';
import { executionOutcome, outcomeOfAnswer, outcomeOfError, type Outcome } from './outcome';
import { checkStarts, ranOnWorker, type Observations, type UnsettledStart } from './watchdog';

/**
 * Milliseconds between n8n's answer for an execution and its run. On a worker that is faster than the
 * main process, n8n never gives the run: Bull removes a finished job at once (removeOnComplete; since
 * 2.30 keepLastCompleted, which is 0), and the main process waits for a job that is gone
 * (workflow-runner, enqueueExecution; the same in 2.11, 2.20, 2.30, 2.33, 2.35, 2.38, 2.40 and 2.41).
 */
const longestWithoutRun = 15_000;

interface Start extends UnsettledStart {
	name: string;
	emit(start: Start): void;
}

/** Follows starts of executions until n8n has told how they came out, and repeats those that it has lost. */
export class Starts {
	private readonly unsettled = new Map<string, Start>();
	private readonly seen: Observations = {};
	private number = 0;

	private readonly clock: Clock;

	constructor(clock: Clock) {
		this.clock = clock;
	}

	/** How many executions are under way. */
	get size(): number {
		return this.unsettled.size;
	}

	has = (name: string): boolean => this.unsettled.has(name);

	/** @param settle called once, when the execution has come out or was not started */
	begin(n8n: ITriggerFunctions, name: string, key: string, items: INodeExecutionData[], settle: (outcome: Outcome) => void): void {
		const settled = new AbortController();
		const finish = (outcome: Outcome, number: number) => {
			if (settled.signal.aborted) return;
			settled.abort();
			this.unsettled.delete(name);
			this.seen.lastOut = { number, at: this.clock.now() };
			settle(outcome);
		};
		const emit = (start: Start): void => {
			const { number, repeats } = start;
			const done = n8n.helpers.createDeferredPromise<IRun | undefined>();
			const answer = n8n.helpers.createDeferredPromise<IExecuteResponsePromiseData>();
			const byAnswer = async (): Promise<void> => {
				const outcome = outcomeOfAnswer(await answer.promise);
				if (outcome === undefined) return;
				await this.clock.sleep(longestWithoutRun, settled.signal);
				finish(outcome, number);
			};
			byAnswer().catch(() => undefined);
			done.promise.then(
				(run) => {
					const onWorkers = ranOnWorker(run);
					if (onWorkers !== undefined) this.seen.onWorkers = onWorkers;
					// The first start has reached n8n after all, and its end comes of that one.
					if (run === undefined && repeats > 0) start.hasBegun = true;
					else finish(executionOutcome(run), number);
				},
				(error: Error) => {
					this.seen.failedAt = this.clock.now();
					if (repeats === 0) finish(outcomeOfError(error), number);
				},
			);
			n8n.emit([items], answer, done as never, key);
		};
		const now = this.clock.now();
		const start: Start = { name, emit, number: ++this.number, at: now, repeats: 0, hasBegun: false, isReported: false };
		this.unsettled.set(name, start);
		emit(start);
	}

	/**
	 * Repeats what n8n has lost.
	 *
	 * @returns names of what has begun long ago and has not come out
	 */
	check(): string[] {
		const now = this.clock.now();
		const { repeat, report } = checkStarts([...this.unsettled.values()], this.seen, now);
		for (const start of repeat) {
			Object.assign(start, { number: ++this.number, at: now, repeats: start.repeats + 1 });
			start.emit(start);
		}
		for (const start of report) start.isReported = true;
		return report.map(({ name }) => name);
	}
}
