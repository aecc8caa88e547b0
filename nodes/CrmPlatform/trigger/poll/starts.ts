import type { IExecuteResponsePromiseData, INodeExecutionData, IRun, ITriggerFunctions } from 'n8n-workflow';

import type { Clock } from '../../base/clock';
import {
	endedUnseen, executionOutcome, failedBeforeBeginning, hasNoTrace, outcomeOfAnswer, outcomeOfError, silentError, type Outcome,
} from './outcome';
import type { Group } from './position';
import { reportFailure } from '../reportFailure';
import { nextStarts, noStarts, type SeenOfN8n, type StartEffect, type StartEvent } from './startLedger';
import { hasExecution, tellsFailures } from '../unwritable';

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
	// The run of a worker that was considered dead has lost its job (workflow-runner, processError).
	if (run && !hasNoTrace(run)) seen.onWorkers = seen.onWorkers || run.jobId !== undefined;
}

/** Starts executions, and follows them until their outcome is known, as the ledger of starts decides. */
export class Starts {
	private ledger = noStarts;
	private readonly requests = new Map<string, StartRequest>();
	private readonly runs = new Map<number, IRun>();
	private readonly clock: Clock;

	constructor(clock: Clock) {
		this.clock = clock;
	}

	/** The number of starts under way. */
	get size(): number {
		return this.ledger.starts.size;
	}

	has(name: string): boolean {
		return this.ledger.starts.has(name);
	}

	begin(n8n: ITriggerFunctions, request: StartRequest): void {
		const { group: { name }, isDoneWhenBegun } = request;
		this.requests.set(name, request);
		this.note(n8n, { is: 'begun', name, isDoneWhenBegun });
	}

	/** Repeats starts that n8n has lost, and reports those without an answer for a long time. */
	check(n8n: ITriggerFunctions): void {
		const { executionTimeout = 0 } = n8n.getWorkflowSettings();
		const timeout = executionTimeout > 0 ? executionTimeout * 1000 : undefined;
		// n8n would add an empty item to a probe, and the next nodes would run.
		this.note(n8n, { is: 'time', seen, timeout, mayProbe: !n8n.getNode().alwaysOutputData });
	}

	private note(n8n: ITriggerFunctions, event: StartEvent): void {
		const { ledger, effects } = nextStarts(this.ledger, event, this.clock.now());
		this.ledger = ledger;
		for (const effect of effects) this.do(n8n, effect);
	}

	private do(n8n: ITriggerFunctions, effect: StartEffect): void {
		if (effect.do === 'probe') {
			const { emission } = effect;
			this.run(n8n, [], undefined, {
				ended: () => this.note(n8n, { is: 'probe ended', emission }),
				failed: () => this.note(n8n, { is: 'probe failed' }),
			});
			return;
		}
		const { name } = effect;
		const { group, items, settle } = this.requests.get(name)!;
		const key = executionKey(n8n, group);
		if (effect.do === 'settle') {
			this.requests.delete(name);
			settle(effect.outcome);
		} else if (effect.do === 'report') {
			reportFailure(n8n, silentError(n8n.getNode(), group));
		} else if (effect.do === 'seek') {
			void hasExecution(n8n, key, this.clock).then((exists) => this.note(n8n, { is: 'sought', name, exists }));
		} else if (effect.do === 'refine') {
			const { emission } = effect;
			const run = this.runs.get(emission);
			this.runs.delete(emission);
			void this.refined(n8n, key, run).then((outcome) => this.note(n8n, { is: 'ended', name, emission, outcome }));
		} else {
			this.emit(n8n, name, items, key, effect.emission);
		}
	}

	private emit(n8n: ITriggerFunctions, name: string, items: INodeExecutionData[], key: string, emission: number): void {
		this.run(n8n, items, key, {
			ended: (outcome, run) => {
				// If a job failed while n8n's database was unavailable, its execution may not have begun, and never would.
				const isUntraced = outcome === 'failed' && seen.onWorkers !== false && hasNoTrace(run);
				if (isUntraced) this.runs.set(emission, run!);
				this.note(n8n, { is: 'ended', name, emission, outcome, isUntraced });
			},
			failed: (error) => {
				const outcome = outcomeOfError(error);
				if (outcome === 'rejected by n8n' && !endedUnseen(error)) seen.failedAt = this.clock.now();
				this.note(n8n, { is: 'ended', name, emission, outcome });
			},
		});
	}

	private async refined(n8n: ITriggerFunctions, key: string, run: IRun | undefined): Promise<Outcome> {
		if (!(await hasExecution(n8n, key, this.clock))) return 'rejected by n8n';
		return failedBeforeBeginning(run) && (await tellsFailures(n8n, this.clock)) ? 'ended before its first node' : 'failed';
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
}

/** A key that is unique in the n8n instance, and equal for every start of this group and attempt, whatever the position. */
export function executionKey(n8n: ITriggerFunctions, { name, attempt, unbegun }: Group): string {
	return `${String(n8n.getWorkflow().id)}:${n8n.getNode().id}:${name}:${attempt + unbegun}`;
}
