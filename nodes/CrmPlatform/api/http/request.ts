import { failedAttempt, ndjson, readAnswer } from './answer';
import { systemClock, type Clock } from './clock';
import type { Priority } from './fairQueue';
import { queryString, type Query } from './path';
import { rateLimitProblem, saysNotFound, uncertainProblem, type Problem } from './problem';
import { queueFor, RequestQueue, type QueueOptions } from './requestQueue';
import {
	asksToWait,
	decideRetry,
	isOutcomeUnknown,
	rateLimited,
	retryPolicy,
	type RetryDecision,
	type RetryPolicy,
} from './retry';
import type { HttpRequest, HttpResponse, Transport } from './transport';

export interface ApiRequest {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Relative to the service's address, such as `/v1/contacts`. */
	path: string;
	query?: Query;
	/** Sent as JSON. */
	body?: object;
	/** JSON texts, sent as newline-delimited JSON in place of `body`. */
	lines?: string[];
	/** Added to the node's own headers, or replacing them; lower-case names. */
	headers?: Record<string, string>;
	/** Lets the service recognize a repeated write. */
	idempotency?: Idempotency;
	/** Whether repeating the request has no further effect; by default as `isIdempotent` says. */
	isRepeatable?: boolean;
}

/** The idempotency key of a request. */
export interface Idempotency {
	/** Name of the header. */
	header: string;
	key: string;
	/**
	 * False if the service's description does not promise to honor the key. The key is sent anyway, but does
	 * not make the write repeatable.
	 */
	isPromised?: boolean;
}

export interface ApiResponse {
	status: number;
	headers: HttpResponse['headers'];
	/** Parsed JSON; undefined if the service sent no body (204). */
	body: unknown;
}

type RequestOutcome = { ok: true; response: ApiResponse } | { ok: false; problem: Problem };

interface SenderOptions {
	transport: Transport;
	/** Address of the service without version prefix. */
	address: string;
	/** The address in error messages; by default the address itself. */
	shownAddress?: string;
	/** Aborts waits; the transport aborts requests in flight. */
	signal?: AbortSignal | undefined;
	clock?: Clock;
	policy?: RetryPolicy;
	/** Milliseconds a connection may be silent. */
	timeout?: number;
	/** Milliseconds until a response must be complete. */
	totalTimeout?: number;
	/** By default, the sender has a queue of its own. */
	queueOptions?: QueueOptions;
	/**
	 * Called before each wait with its expected length in milliseconds and the number of other workflows that
	 * wait. The returned function is called when the wait ends.
	 */
	onWait?(ms: number, otherWorkflows: number): () => void;
}

type Sender = (request: ApiRequest) => Promise<RequestOutcome>;

/** Requests after which an execution counts as bulk: more than a form, a look-up or a few pages need. */
const bulkThreshold = 20;

/** Milliseconds. A page or a batch takes seconds, an export over a slow connection minutes. */
const defaultTotalTimeout = 5 * 60_000;

/**
 * All requests to the service pass through a sender. It retries transient errors, respects rate limits, and
 * turns every response into data or a problem in the user's words.
 */
export function createSender(options: SenderOptions): Sender {
	const { transport, address, signal, clock = systemClock, policy = retryPolicy, queueOptions } = options;
	const { timeout = 60_000, totalTimeout = defaultTotalTimeout } = options;
	const { workflow = '' } = queueOptions ?? {};
	const privateQueue = queueOptions ? undefined : new RequestQueue(clock);
	const queue = () => privateQueue ?? queueFor(queueOptions?.account ?? '', clock);
	const execution = queueOptions?.execution || options;
	const currentPriority = (): Priority =>
		(queue().sentCount(execution) < bulkThreshold ? queueOptions?.priority : queueOptions?.laterPriority) ?? 'ordinary';

	return async (request) => {
		const http: HttpRequest = { ...toHttpRequest(request, address), timeout, totalTimeout };
		const hasKey = request.idempotency !== undefined;
		const isKeyed = hasKey && request.idempotency?.isPromised !== false;
		const repeatable = isKeyed || (request.isRepeatable ?? isIdempotent(request));
		let mayBeDone = false;
		/** Whether the last attempt may have been carried out: for a repeatable write, only that matters. */
		let isUnknown = false;
		let waited = 0;
		let queued = 0;
		let tries = 1;
		let refusals = 0;
		let problem: Problem | undefined;

		/** Adds a hint if the write may have been carried out. */
		const finalProblem = (last: Problem) => {
			const isUncertain = request.method !== 'GET' && (repeatable ? isUnknown : mayBeDone);
			return isUncertain ? uncertainProblem(last, repeatable) : last;
		};
		const wait = async (ms: number) => {
			if (ms <= 0) return;
			const onWaitEnd = options.onWait?.(ms, 0);
			await clock.sleep(ms, signal).finally(onWaitEnd);
			waited += ms;
		};
		const sendQueued = async (priority: Priority, maxWait: number) => {
			const enqueuedAt = clock.now();
			const reserve = priority === 'bulk' ? (queueOptions?.reserve ?? 0) : 0;
			let onWaitEnd = options.onWait?.(queue().expectedDelay(reserve), queue().countOtherWorkflows(workflow));
			const endWait = () => {
				onWaitEnd?.();
				onWaitEnd = undefined;
			};
			const queuedRequest = {
				priority,
				workflow,
				execution,
				timeoutAt: enqueuedAt + maxWait - waited - queued,
				reserve,
				totalTimeout,
				isRetry: refusals > 0,
				signal,
			};
			const send = async () => {
				endWait();
				queued += clock.now() - enqueuedAt;
				return await transport(http);
			};
			return await queue().enqueue(queuedRequest, send).finally(endWait);
		};

		for (;;) {
			signal?.throwIfAborted();
			const priority = currentPriority();
			const maxWait = priority === 'awaited' ? policy.maxWait : (queueOptions?.maxWait ?? policy.maxWait);
			const answer = await sendQueued(priority, maxWait);
			// Another attempt would only be refused, at the cost of the shared plan.
			if ('retryAt' in answer) return failed(problem ? finalProblem(problem) : rateLimitProblem(), answer.retryAt);
			// A request aborted by a canceled execution is not a connection failure.
			if (!('headers' in answer)) signal?.throwIfAborted();
			const outcome = readAnswer(answer, options.shownAddress ?? address, request.method);
			if (outcome.ok) return outcome;
			const failure = failedAttempt(answer, outcome);

			// An earlier attempt, whose response was lost, has deleted the record.
			if (mayBeDone && request.method === 'DELETE' && saysNotFound(failure.status, outcome.problem.details)) {
				return { ok: true, response: { status: 204, headers: failure.headers, body: undefined } };
			}
			// A success without readable data does not show what became of the record.
			const isWithoutRecord = (failure.status ?? 500) < 300 && !outcome.isFinal;
			isUnknown = isWithoutRecord || isOutcomeUnknown(failure, hasKey);
			mayBeDone ||= isUnknown;
			problem = { ...outcome.problem, mayBeDone: mayBeDone || outcome.problem.mayBeDone === true };
			if (asksToWait(failure)) refusals += 1;
			const decision: RetryDecision =
				'isOverdue' in answer || outcome.isFinal
					? { retry: false }
					: decideRetry(
							failure,
							{ tries, refusals, waited, repeatable, hasKey, now: clock.now(), random: clock.random() },
							failure.status === rateLimited ? { ...policy, maxWait } : policy,
						);
			if (!decision.retry) {
				return failed(finalProblem(problem), decision.retryAt);
			}
			if (decision.counts) tries += 1;
			await wait(decision.delay);
		}
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
	let headers: Record<string, string> = { accept: 'application/json' };
	if (body) headers['content-type'] = 'application/json';
	if (lines) headers['content-type'] = ndjson;
	if (idempotency) headers[idempotency.header.toLowerCase()] = idempotency.key;
	headers = { ...headers, ...request.headers };
	const http: ReturnType<typeof toHttpRequest> = {
		method,
		url: address + path + queryString(query),
		headers,
	};
	if (body) http.body = JSON.stringify(body);
	if (lines) http.body = `${lines.join('\n')}\n`;
	return http;
}

function failed(problem: Problem, retryAt?: number): RequestOutcome {
	if (retryAt === undefined) return { ok: false, problem };
	const when = `The service accepts requests again at ${new Date(retryAt).toISOString()}.`;
	const description = `${problem.description}\n${when}`;
	return { ok: false, problem: { ...problem, description, retryAt } };
}
