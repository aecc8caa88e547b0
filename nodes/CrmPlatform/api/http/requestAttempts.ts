import { failedAttempt, readAnswer, type FailedAnswer, type SuccessfulAnswer } from './answer';
import type { Clock } from '../../base/clock';
import type { Priority } from './fairQueue';
import { rateLimitProblem, saysNotFound, uncertainProblem, type Problem } from './problem';
import type { QueueOptions, QueueTimeout, RequestQueue } from './requestQueue';
import {
	asksToWait,
	decideRetry,
	attemptMayBeDone,
	type FailedAttempt,
	type RetryDecision,
	type RetryPolicy,
} from './retry';
import type { HttpRequest, Transport, TransportResult } from './transport';
import { rateLimited } from './statuses';

export type RequestAnswer = SuccessfulAnswer | { ok: false; problem: Problem };

/** Everything that the requests of a sender share. */
export interface SenderContext {
	transport: Transport;
	/** Aborts waits; the transport aborts requests in flight. */
	signal?: AbortSignal | undefined;
	clock: Clock;
	policy: RetryPolicy;
	/** The address in error messages. */
	shownAddress: string;
	queueOptions?: QueueOptions;
	queue(): RequestQueue;
	execution: unknown;
	currentPriority(): Priority;
	/**
	 * Called before each wait with its expected length in milliseconds, the number of other workflows that wait, and
	 * whether the rate limit is the reason. The returned function is called when the wait ends.
	 */
	onWait?(ms: number, otherWorkflows: number, isLimited: boolean): () => void;
}

interface AttemptedRequest {
	http: HttpRequest;
	/** Whether repeating the request has no further effect. */
	isRepeatable: boolean;
	/** Whether it has an idempotency key, even one that the service may ignore. */
	hasKey: boolean;
}

/** The attempts of one request, until it succeeds or another attempt is pointless. */
export class RequestAttempts {
	private readonly sender: SenderContext;
	private readonly request: AttemptedRequest;
	/** Whether any attempt may have been carried out. */
	private mayBeDone = false;
	/** Whether the last attempt may have been carried out: for a repeatable write, only that matters. */
	private lastMayBeDone = false;
	/** Milliseconds in the queue, and after each 429. */
	private waitedForRateLimit = 0;
	/** Milliseconds before all other retries. Separate, since an hour in the queue must not prevent a retry after a 503. */
	private waitedForRetries = 0;
	private attempts = 1;
	/** How often the service has asked to wait. */
	private deferrals = 0;
	/** The problem of the last attempt. */
	private problem: Problem | undefined;

	constructor(sender: SenderContext, request: AttemptedRequest) {
		this.sender = sender;
		this.request = request;
	}

	async send(): Promise<RequestAnswer> {
		const { signal, shownAddress, policy, queueOptions } = this.sender;
		const { method } = this.request.http;
		for (;;) {
			signal?.throwIfAborted();
			const priority = this.sender.currentPriority();
			const maxRateLimitWait = priority === 'awaited' ? policy.maxWait : (queueOptions?.maxUnattendedWait ?? policy.maxWait);
			const result = await this.sendQueued(priority, maxRateLimitWait);
			// Another attempt would only be refused, at the cost of the shared plan.
			if ('retryAt' in result) return failed(this.problem ? this.finalProblem(this.problem) : rateLimitProblem(), result.retryAt);
			// A request aborted by a canceled execution is not a connection failure.
			if (!('headers' in result)) signal?.throwIfAborted();
			const answer = readAnswer(result, shownAddress, method);
			if (answer.ok) {
				const isReplayed = !this.mayBeDone && answer.response.headers['idempotent-replayed'] === 'true';
				return { ok: true, response: { ...answer.response, isReplayed } };
			}
			const failure = failedAttempt(result, answer);
			// An earlier attempt, whose response was lost, has deleted the record.
			if (this.mayBeDone && method === 'DELETE' && saysNotFound(failure.status, answer.problem.details)) {
				return { ok: true, response: { status: 204, headers: failure.headers, body: undefined } };
			}
			const problem = this.recordFailure(failure, answer);
			const isLast = 'isOverdue' in result || answer.isFinal === true;
			const decision: RetryDecision = isLast ? { retry: false } : this.decide(failure, maxRateLimitWait);
			if (!decision.retry) return failed(this.finalProblem(problem), decision.retryAt);
			if (decision.countsAsAttempt) this.attempts += 1;
			await this.wait(decision.delay, failure.status === rateLimited);
			if (failure.status === rateLimited) this.waitedForRateLimit += decision.delay;
			else this.waitedForRetries += decision.delay;
		}
	}

	private async sendQueued(priority: Priority, maxRateLimitWait: number): Promise<TransportResult | QueueTimeout> {
		const { clock, queue, queueOptions, signal, execution, onWait, transport } = this.sender;
		const { http } = this.request;
		const { workflow = '' } = queueOptions ?? {};
		const enqueuedAt = clock.now();
		const reserve = priority === 'bulk' ? (queueOptions?.reserve ?? 0) : 0;
		const delay = queue().expectedDelay(reserve);
		let onWaitEnd = onWait?.(delay, queue().countOtherWorkflows(workflow), delay > 0);
		const endWait = () => {
			onWaitEnd?.();
			onWaitEnd = undefined;
		};
		const queuedRequest = {
			priority,
			workflow,
			execution,
			timeoutAt: enqueuedAt + maxRateLimitWait - this.waitedForRateLimit,
			reserve,
			totalTimeout: http.totalTimeout,
			wasDeferred: this.deferrals > 0,
			signal,
		};
		const send = async (): Promise<TransportResult> => {
			endWait();
			this.waitedForRateLimit += clock.now() - enqueuedAt;
			return await transport(http);
		};
		return await queue().enqueue(queuedRequest, send).finally(endWait);
	}

	/** @returns the problem, with the information whether any attempt may have been carried out */
	private recordFailure(failure: FailedAttempt, { problem, isFinal }: FailedAnswer): Problem {
		// A success without readable data does not show whether the record was written.
		const isWithoutRecord = (failure.status ?? 500) < 300 && !isFinal;
		this.lastMayBeDone = isWithoutRecord || attemptMayBeDone(failure, this.request.hasKey);
		this.mayBeDone ||= this.lastMayBeDone;
		if (asksToWait(failure)) this.deferrals += 1;
		this.problem = { ...problem, mayBeDone: this.mayBeDone || problem.mayBeDone === true };
		return this.problem;
	}

	private decide(failure: FailedAttempt, maxRateLimitWait: number): RetryDecision {
		const { clock, policy } = this.sender;
		const { attempts, deferrals } = this;
		const { isRepeatable, hasKey } = this.request;
		const isLimited = failure.status === rateLimited;
		const waited = isLimited ? this.waitedForRateLimit : this.waitedForRetries;
		return decideRetry(
			failure,
			{ attempts, deferrals, waited, isRepeatable, hasKey, now: clock.now(), random: clock.random() },
			isLimited ? { ...policy, maxWait: maxRateLimitWait } : policy,
		);
	}

	/** Adds a hint if the write may have been carried out. */
	private finalProblem(problem: Problem): Problem {
		const { http, isRepeatable } = this.request;
		const mayHaveWritten = http.method !== 'GET' && (isRepeatable ? this.lastMayBeDone : this.mayBeDone);
		return mayHaveWritten ? uncertainProblem(problem, isRepeatable) : problem;
	}

	private async wait(ms: number, isLimited: boolean): Promise<void> {
		if (ms <= 0) return;
		const { clock, signal, onWait } = this.sender;
		const onWaitEnd = onWait?.(ms, 0, isLimited);
		await clock.sleep(ms, signal).finally(onWaitEnd);
	}
}

function failed(problem: Problem, retryAt?: number): RequestAnswer {
	if (retryAt === undefined) return { ok: false, problem };
	const when = `The CRM accepts requests again at ${new Date(retryAt).toISOString()}.`;
	const description = `${problem.description}\n${when}`;
	return { ok: false, problem: { ...problem, description, retryAt } };
}
