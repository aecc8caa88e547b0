import { ndjson, readAnswer, type SuccessfulAnswer } from './answer';
import { type Clock, systemClock } from '../../base/clock';
import type { Priority } from './fairQueue';
import { type Query, queryString } from './path';
import { queueFor, type QueuedRequest, type QueueOptions, type QueueTimeout, RequestQueue } from './requestQueue';
import { asksToWait, attemptMayBeDone, decideRetry, retryPolicy, type RetryPolicy } from './retry';
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
		return await sendUntilDone(sender, { http, isRepeatable, hasKey });
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
		...(body && { body: JSON.stringify(body) }),
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

/** Sends a request until it succeeds or another attempt is pointless. */
async function sendUntilDone(sender: SenderContext, { http, isRepeatable, hasKey }: AttemptedRequest): Promise<RequestAnswer> {
	const { signal, shownAddress, clock, policy, queueOptions, onWait } = sender;
	const { method } = http;
	/** Whether any attempt may have been carried out, and whether the last one may: for a repeatable write, only that matters. */
	let mayBeDone = false;
	let lastMayBeDone = false;
	// Two waits: an hour in the queue must not prevent a retry after a 503.
	const waited = { inQueue: 0, beforeRetries: 0 };
	let attempts = 1;
	let wasDeferred = false;
	let lastProblem: Problem | undefined;
	/** Adds a hint if the write may have been carried out. */
	const final = (problem: Problem): Problem => {
		const mayHaveWritten = method !== 'GET' && (isRepeatable ? lastMayBeDone : mayBeDone);
		return mayHaveWritten ? uncertainProblem(problem, isRepeatable) : problem;
	};
	for (;;) {
		signal?.throwIfAborted();
		const priority = sender.currentPriority();
		const maxQueueWait = priority === 'awaited' ? policy.maxWait : (queueOptions?.maxUnattendedWait ?? policy.maxWait);
		const enqueuedAt = clock.now();
		const onSend = () => (waited.inQueue += clock.now() - enqueuedAt);
		const result = await sendQueued(sender, http, { priority, wasDeferred, timeoutAt: enqueuedAt + maxQueueWait - waited.inQueue }, onSend);
		// Another attempt would only be refused, at the cost of the shared plan.
		if ('retryAt' in result) return failed(lastProblem ? final(lastProblem) : rateLimitProblem(), result.retryAt);
		// A request aborted by a canceled execution is not a connection failure.
		if (!('headers' in result)) signal?.throwIfAborted();
		const answer = readAnswer(result, shownAddress, method);
		if (answer.ok) {
			const isReplayed = !mayBeDone && answer.response.headers['idempotent-replayed'] === 'true';
			return { ok: true, response: { ...answer.response, isReplayed } };
		}
		const { attempt, problem, isFinal = false } = answer;
		// An earlier attempt, whose response was lost, has deleted the record.
		if (mayBeDone && method === 'DELETE' && saysNotFound(attempt.status, problem.details)) {
			return { ok: true, response: { status: 204, headers: attempt.headers, body: undefined } };
		}
		// A success without readable data does not show whether the record was written.
		lastMayBeDone = attemptMayBeDone(attempt, hasKey) || ((attempt.status ?? 500) < 300 && !isFinal);
		mayBeDone ||= lastMayBeDone;
		lastProblem = { ...problem, mayBeDone: mayBeDone || problem.mayBeDone === true };
		wasDeferred ||= asksToWait(attempt);
		const progress = { attempts, waited: waited.beforeRetries, isRepeatable, hasKey, now: clock.now(), random: clock.random() };
		const decision = decideRetry(attempt, progress, policy);
		if (isFinal || !decision.retry) return failed(final(lastProblem), 'retryAt' in decision ? decision.retryAt : undefined);
		if (attempt.status === rateLimited) continue;
		attempts += 1;
		waited.beforeRetries += decision.delay;
		const endWait = onWait?.(decision.delay, 0, false);
		await clock.sleep(decision.delay, signal).finally(endWait);
	}
}

/** @param onSend called when the queue sends the request */
async function sendQueued(
	{ queue, queueOptions, signal, execution, onWait, transport }: SenderContext,
	http: HttpRequest,
	queued: Pick<QueuedRequest, 'priority' | 'wasDeferred' | 'timeoutAt'>,
	onSend: () => void,
): Promise<TransportResult | QueueTimeout> {
	const { workflow = '', reserve: bulkReserve = 0 } = queueOptions ?? {};
	const reserve = queued.priority === 'bulk' ? bulkReserve : 0;
	const delay = queue().expectedDelay(reserve);
	let onWaitEnd = onWait?.(delay, queue().countOtherWorkflows(workflow), delay > 0);
	const endWait = () => {
		onWaitEnd?.();
		onWaitEnd = undefined;
	};
	const send = async (): Promise<TransportResult> => {
		endWait();
		onSend();
		return await transport(http);
	};
	const { totalTimeout } = http;
	return await queue().enqueue({ ...queued, workflow, execution, reserve, totalTimeout, signal }, send).finally(endWait);
}

function failed(problem: Problem, retryAt?: number): RequestAnswer {
	if (retryAt === undefined) return { ok: false, problem };
	const description = `${problem.description}\nTry again after ${new Date(retryAt).toISOString()}.`;
	return { ok: false, problem: { ...problem, description, retryAt } };
}
