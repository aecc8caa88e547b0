import { type FailedAnswer, failedAttempt, ndjson, readAnswer, type SuccessfulAnswer } from './answer';
import { type Clock, systemClock } from '../../base/clock';
import { jsonText } from '../../base/numbers';
import type { Priority } from './fairQueue';
import { type Query, queryString } from './path';
import { queueFor, type QueueOptions, type QueueTimeout, RequestQueue } from './requestQueue';
import { asksToWait, attemptMayBeDone, decideRetry, type FailedAttempt, type RetryDecision, retryPolicy, type RetryPolicy } from './retry';
import type { HttpRequest, Transport, TransportResult } from './transport';
import { type Problem, rateLimitProblem, saysNotFound, uncertainProblem } from './problem';
import { rateLimited } from './statuses';

export interface ApiRequest {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Path relative to the service's address, such as `/v1/contacts`. */
	path: string;
	query?: Query;
	/** Sent as JSON. */
	body?: object;
	/** JSON texts, sent as newline-delimited JSON instead of `body`. */
	lines?: string[];
	/** Added to the node's headers, or replacing them; lower-case names. */
	headers?: Record<string, string>;
	/** Lets the service recognize a repeated write. */
	idempotency?: Idempotency;
	/** Whether repeating the request has no further effect; by default, the result of `isIdempotent`. */
	isRepeatable?: boolean;
}

/** The idempotency key of a request. */
interface Idempotency {
	/** Name of the header. */
	header: string;
	key: string;
	/**
	 * False if the API description does not say that the service honors the key. The key is sent anyway, but does not make
	 * the write repeatable.
	 */
	isGuaranteed?: boolean;
}

export type ApiResponse = SuccessfulAnswer['response'];

type Sender = (request: ApiRequest) => Promise<RequestAnswer>;

interface SenderOptions
	extends Pick<SenderContext, 'transport' | 'signal' | 'onWait'>, Partial<Pick<SenderContext, 'clock' | 'policy' | 'shownAddress'>> {
	/** Address of the service without version prefix; error messages show it unless `shownAddress` is set. */
	address: string;
	/** Milliseconds that a connection may be silent. */
	timeout?: number;
	/** Milliseconds until a response must be complete. */
	totalTimeout?: number;
	/** By default, the sender has its own queue. */
	queueOptions?: QueueOptions;
}

/** Requests after which an execution counts as bulk: more than a form, a look-up or a few pages need. */
const bulkThreshold = 20;

/** Milliseconds. A page or a batch takes seconds, an export over a slow connection minutes. */
const defaultTotalTimeout = 5 * 60_000;

/**
 * All requests to the service pass through a sender. It retries transient errors, respects rate limits, and
 * turns every response into data or a problem in the user's words.
 */
export function createSender(options: SenderOptions): Sender {
	const { address, queueOptions, clock = systemClock, policy = retryPolicy, shownAddress = address } = options;
	const { timeout = 60_000, totalTimeout = defaultTotalTimeout } = options;
	const privateQueue = queueOptions ? undefined : new RequestQueue(clock);
	const queue = () => privateQueue ?? queueFor(queueOptions?.queueKey ?? '', clock);
	const execution = queueOptions?.execution || options;
	const currentPriority = (): Priority =>
		(queue().sentCount(execution) < bulkThreshold ? queueOptions?.priority : queueOptions?.laterPriority) ?? 'ordinary';
	const sender: SenderContext = { ...options, shownAddress, clock, policy, queue, execution, currentPriority };

	return async (request) => {
		const hasKey = request.idempotency !== undefined;
		const isKeyed = hasKey && request.idempotency?.isGuaranteed !== false;
		const isRepeatable = isKeyed || (request.isRepeatable ?? isIdempotent(request));
		const http: HttpRequest = { ...toHttpRequest(request, address), timeout, totalTimeout };
		return await new RequestAttempts(sender, { http, isRepeatable, hasKey }).send();
	};
}

/**
 * Whether the semantics of the method allow repeating a request (RFC 9110, section 9.2.2). A PATCH here
 * is a merge patch (RFC 7396), which sets values. A PUT with a query is an upsert, which may create a
 * second record while the first attempt is still running. Under If-Match, a repeated change fails
 * because the first one succeeded.
 */
export function isIdempotent({ method, query = {}, body, headers = {} }: ApiRequest): boolean {
	if (method === 'GET' || method === 'DELETE') return true;
	if (method === 'POST' || 'if-match' in headers) return false;
	if (method === 'PUT') return Object.keys(query).length === 0;
	return body !== undefined && !Array.isArray(body);
}

function toHttpRequest(
	request: ApiRequest,
	address: string,
): Omit<HttpRequest, 'timeout' | 'totalTimeout'> {
	const { method, path, query = {}, body, lines, idempotency } = request;
	return {
		method,
		url: address + path + queryString(query),
		headers: {
			accept: 'application/json',
			...(body && { 'content-type': 'application/json' }),
			...(lines && { 'content-type': ndjson }),
			...(idempotency && { [idempotency.header.toLowerCase()]: idempotency.key }),
			...request.headers,
		},
		...(body && { body: jsonText(body) }),
		...(lines && { body: `${lines.join('\n')}\n` }),
	};
}

type RequestAnswer = SuccessfulAnswer | { ok: false; problem: Problem };

/** Everything that the requests of a sender share. */
interface SenderContext {
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
class RequestAttempts {
	private readonly sender: SenderContext;
	private readonly request: AttemptedRequest;
	/** Whether any attempt may have been carried out. */
	private mayBeDone = false;
	/** Whether the last attempt may have been carried out: for a repeatable write, only that matters. */
	private lastMayBeDone = false;
	/**
	 * Milliseconds in the queue and after each 429, and before all other retries: an hour in the queue must not prevent a
	 * retry after a 503.
	 */
	private readonly waited = { rateLimit: 0, retries: 0 };
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
			const reason = failure.status === rateLimited ? 'rateLimit' : 'retries';
			const maxWait = reason === 'rateLimit' ? maxRateLimitWait : policy.maxWait;
			const decision: RetryDecision = isLast ? { retry: false } : this.decide(failure, this.waited[reason], maxWait);
			if (!decision.retry) return failed(this.finalProblem(problem), decision.retryAt);
			if (decision.countsAsAttempt) this.attempts += 1;
			await this.wait(decision.delay, reason === 'rateLimit');
			this.waited[reason] += decision.delay;
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
			timeoutAt: enqueuedAt + maxRateLimitWait - this.waited.rateLimit,
			reserve,
			totalTimeout: http.totalTimeout,
			wasDeferred: this.deferrals > 0,
			signal,
		};
		const send = async (): Promise<TransportResult> => {
			endWait();
			this.waited.rateLimit += clock.now() - enqueuedAt;
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

	private decide(failure: FailedAttempt, waited: number, maxWait: number): RetryDecision {
		const { attempts, deferrals, request: { isRepeatable, hasKey }, sender: { clock, policy } } = this;
		const progress = { attempts, deferrals, waited, isRepeatable, hasKey, now: clock.now(), random: clock.random() };
		return decideRetry(failure, progress, { ...policy, maxWait });
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
