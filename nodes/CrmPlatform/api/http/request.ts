import { ndjson, readAnswer, type SuccessfulAnswer } from './answer';
import { type Clock, systemClock } from '../../base/clock';
import { type Query, queryString, wholePath } from './path';
import { queueFor, type OnWait, type QueueOptions, RequestQueue } from './requestQueue';
import { afterFailure, noAttempts, retryPolicy, type RetriedRequest, type RetryPolicy, type RetryProgress } from './retry';
import type { HttpRequest, Transport } from './transport';
import { type Problem, waitTooLong, uncertainProblem } from './problem';

export interface ApiRequest {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Such as `/contacts/con_1`. */
	path: string;
	/** Whether the path is sent as it is, without the version prefix. */
	isWholePath?: true;
	query?: Query;
	/** Sent as JSON. */
	body?: object;
	/** JSON texts, sent as newline-delimited JSON instead of `body`. */
	lines?: string[];
	/** Added to the node's headers, or replacing them; lower-case names. */
	headers?: Record<string, string>;
	/** The idempotency key, by which the service recognizes a repeated write. */
	idempotency?: { header: string; key: string };
	/** Whether repeating the request has no further effect; by default, the result of `isIdempotent`. */
	isRepeatable?: boolean;
}

export type ApiResponse = SuccessfulAnswer['response'];

type Sender = (request: ApiRequest) => Promise<RequestAnswer>;

type RequestAnswer = SuccessfulAnswer | { ok: false; problem: Problem };

interface SenderOptions {
	transport: Transport;
	/** Address of the service without version prefix; error messages show it unless `shownAddress` is set. */
	address: string;
	shownAddress?: string;
	/** Aborts waits; the transport aborts requests in flight. */
	signal?: AbortSignal | undefined;
	clock?: Clock;
	policy?: RetryPolicy;
	/** Milliseconds that a connection may be silent. */
	timeout?: number;
	/** Milliseconds until a response must be complete. */
	totalTimeout?: number;
	/** By default, the sender has its own queue. */
	queueOptions?: QueueOptions;
	/** Whether the service is known to honor keys; by default, it is. Otherwise they are sent, but make no write repeatable. */
	honorsKeys?: () => boolean;
	/** Called before each wait, in the queue or before a retry. */
	onWait?: OnWait;
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
	const sender = withDefaults(options);
	return async (request) => await sendUntilDone(sender, request);
}

type SenderSettings = ReturnType<typeof withDefaults>;

function withDefaults(options: SenderOptions) {
	const { address, shownAddress = address, clock = systemClock, policy = retryPolicy, queueOptions } = options;
	const { timeout = 60_000, totalTimeout = defaultTotalTimeout } = options;
	const ownQueue = new RequestQueue(clock);
	const limits: Omit<QueueOptions, 'queueName'> =
		queueOptions ?? { workflow: '', priority: 'ordinary', laterPriority: 'ordinary', maxUnattendedWait: policy.maxWait, reserve: 0 };
	const queue = () => (queueOptions ? queueFor(queueOptions.queueName, clock) : ownQueue);
	return { ...options, shownAddress, clock, policy, timeout, totalTimeout, limits, queue, execution: queueOptions?.execution || options };
}

/** Sends a request until it succeeds or another attempt is pointless. */
async function sendUntilDone(sender: SenderSettings, request: ApiRequest): Promise<RequestAnswer> {
	const { address, shownAddress, signal, clock, policy, timeout, totalTimeout, onWait } = sender;
	const http: HttpRequest = { ...toHttpRequest(request, address), timeout, totalTimeout };
	const hasKey = request.idempotency !== undefined;
	const isRepeatable = (hasKey && (sender.honorsKeys?.() ?? true)) || (request.isRepeatable ?? isIdempotent(request));
	const retried: RetriedRequest = { method: request.method, isRepeatable, hasKey };
	let progress = noAttempts;
	// Apart from the waits before retries: an hour in the queue must not prevent a retry after a 503.
	let queued = 0;
	let lastProblem: Problem | undefined;
	for (;;) {
		signal?.throwIfAborted();
		const { result, waited } = await sendInTurn(sender, http, progress, queued);
		queued += waited;
		// Another attempt would only be refused, at the cost of the shared plan.
		if ('retryAt' in result) return failed(retried, progress, waitTooLong(lastProblem), result.retryAt);
		// A request aborted by a canceled execution is not a connection failure.
		if (!('headers' in result)) signal?.throwIfAborted();
		const answer = readAnswer(result, shownAddress, request.method);
		if (answer.ok) {
			const isReplayed = !progress.mayBeDone && answer.response.headers['idempotent-replayed'] === 'true';
			return { ok: true, response: { ...answer.response, isReplayed } };
		}
		const { attempt, problem } = answer;
		const { progress: after, step } = afterFailure(retried, progress, attempt, { now: clock.now(), random: clock.random() }, policy);
		progress = after;
		lastProblem = { ...problem, mayBeDone: progress.mayBeDone || problem.mayBeDone === true };
		if ('isDeleted' in step) return { ok: true, response: { status: 204, headers: attempt.headers, body: undefined } };
		if (!step.retry) return failed(retried, progress, lastProblem, step.retryAt);
		if (step.delay === 0) continue;
		const endWait = onWait?.(step.delay, 0, false);
		await clock.sleep(step.delay, signal).finally(endWait);
	}
}

/**
 * Sends a request when its turn comes.
 *
 * @param queued milliseconds for which it has waited for its turns before
 * @returns also for how long it has waited for this one
 */
async function sendInTurn(sender: SenderSettings, http: HttpRequest, { wasDeferred }: RetryProgress, queued: number) {
	const { transport, signal, clock, policy, limits, execution, onWait } = sender;
	const queue = sender.queue();
	const priority = queue.sentCount(execution) < bulkThreshold ? limits.priority : limits.laterPriority;
	const reserve = priority === 'bulk' ? limits.reserve : 0;
	const maxWait = priority === 'awaited' ? policy.maxWait : limits.maxUnattendedWait;
	const enqueuedAt = clock.now();
	const timeoutAt = enqueuedAt + maxWait - queued;
	let waited = 0;
	const turn = { priority, workflow: limits.workflow, execution, reserve, wasDeferred, timeoutAt, signal, onWait };
	const result = await queue.enqueue(turn, async () => {
		waited = clock.now() - enqueuedAt;
		return await transport(http);
	});
	return { result, waited };
}

function failed({ isRepeatable }: RetriedRequest, { isUncertain }: RetryProgress, problem: Problem, retryAt?: number): RequestAnswer {
	return { ok: false, problem: withRetryTime(isUncertain ? uncertainProblem(problem, isRepeatable) : problem, retryAt) };
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

function toHttpRequest(request: ApiRequest, address: string): Omit<HttpRequest, 'timeout' | 'totalTimeout'> {
	const { method, path, isWholePath, query = {}, body, lines, idempotency } = request;
	return {
		method,
		url: address + (isWholePath ? path : wholePath(path)) + queryString(query),
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

function withRetryTime(problem: Problem, retryAt: number | undefined): Problem {
	if (retryAt === undefined) return problem;
	const description = `${problem.description}\nTry again after ${new Date(retryAt).toISOString()}.`;
	return { ...problem, description, retryAt };
}
