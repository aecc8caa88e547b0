import { failedAttempt, ndjson, readAnswer } from './answer';
import { systemClock, type Clock } from './clock';
import { queryString, type Query } from './path';
import { isUnreadable, rateLimitProblem, uncertainProblem, type Problem } from './problem';
import { queueOf, RequestQueue, type Turns } from './requestQueue';
import {
	asksToWait,
	decideRetry,
	leavesOutcomeOpen,
	rateLimited,
	retryPolicy,
	type RetryDecision,
	type RetryPolicy,
} from './retry';
import type { HttpRequest, HttpResponse, Transport } from './transport';
import type { Rank } from './turnOrder';

export interface ApiRequest {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** From the service's address on, such as `/v1/contacts`. */
	path: string;
	query?: Query;
	/** Sent as JSON. */
	body?: object;
	/** JSON texts, sent instead of a body as newline-delimited JSON. */
	lines?: string[];
	/** Sent beside the node's own headers or replacing them; lower-case names. */
	headers?: Record<string, string>;
	/** Lets the service recognize a repeated write. */
	idempotency?: Idempotency;
	/** Whether repeating the request has no further effect; by default as `isIdempotent` says. */
	isRepeatable?: boolean;
}

/** An idempotency key on its way. */
export interface Idempotency {
	/** Name of the header. */
	header: string;
	key: string;
	/**
	 * False where the service's description of this operation does not promise that the key is
	 * honored. It is sent anyway, but the write is not retried because of it.
	 */
	isPromised?: boolean;
}

export interface ApiResponse {
	status: number;
	headers: HttpResponse['headers'];
	/** Parsed JSON; undefined where the service sent nothing (204). */
	body: unknown;
}

type RequestOutcome = { ok: true; response: ApiResponse } | { ok: false; problem: Problem };

interface SenderOptions {
	transport: Transport;
	/** Address of the service without version prefix. */
	address: string;
	/** The address as the user reads it; by default the address itself. */
	shownAddress?: string;
	/** Aborts waits; the transport itself aborts a request under way. */
	signal?: AbortSignal | undefined;
	clock?: Clock;
	policy?: RetryPolicy;
	/** Milliseconds a connection may be silent. */
	timeout?: number;
	/** Milliseconds until an answer must be complete. */
	deadline?: number;
	/** By default, the sender shares the rate limit with nobody. */
	turns?: Turns;
	/**
	 * Called before each wait with its length in milliseconds as far as it is known, and with the number of
	 * other workflows that wait. It returns what is called afterwards.
	 */
	waiting?(ms: number, others: number): () => void;
}

type Sender = (request: ApiRequest) => Promise<RequestOutcome>;

/** Requests of an execution that go before bulk: a form, a look-up, a few pages. */
const few = 20;

/** Milliseconds; a page or a batch takes seconds, an export over a slow line minutes. */
const maxAnswerLength = 5 * 60_000;

/**
 * The only way to the service: transient errors are retried, rate limits are respected, and every
 * answer becomes data or a problem in the user's words.
 */
export function createSender(options: SenderOptions): Sender {
	const { transport, address, signal, clock = systemClock, policy = retryPolicy, turns } = options;
	const { timeout = 60_000, deadline = maxAnswerLength } = options;
	const { workflow = '' } = turns ?? {};
	const own = turns ? undefined : new RequestQueue(clock);
	const queue = () => own ?? queueOf(turns?.account ?? '', clock);
	const execution = turns?.execution || options;
	const rankNow = (): Rank => (queue().sentBy(execution) < few ? turns?.rank : turns?.rankOfMany) ?? 'ordinary';

	return async (request) => {
		const http: HttpRequest = { ...toHttpRequest(request, address), timeout, deadline };
		const hasKey = request.idempotency !== undefined;
		const isKeyed = hasKey && request.idempotency?.isPromised !== false;
		const repeatable = isKeyed || (request.isRepeatable ?? isIdempotent(request));
		let mayBeDone = false;
		/** The same for the last attempt, which decides for a repeatable write. */
		let isOpen = false;
		let waited = 0;
		let queued = 0;
		let tries = 1;
		let refusals = 0;
		let problem: Problem | undefined;

		/** Says in the problem that the write may have been carried out, if it may. */
		const finalProblem = (last: Problem) => {
			const isUncertain = request.method !== 'GET' && (repeatable ? isOpen : mayBeDone);
			return isUncertain ? uncertainProblem(last, repeatable) : last;
		};
		const wait = async (ms: number) => {
			if (ms <= 0) return;
			const ended = options.waiting?.(ms, 0);
			await clock.sleep(ms, signal).finally(ended);
			waited += ms;
		};
		const sendInTurn = async (rank: Rank, maxWait: number) => {
			const asked = clock.now();
			const forOthers = rank === 'bulk' ? (turns?.forOthers ?? 0) : 0;
			let ended = options.waiting?.(queue().delay(forOthers), queue().othersThan(workflow));
			const end = () => {
				ended?.();
				ended = undefined;
			};
			const turn = {
				rank,
				workflow,
				execution,
				until: asked + maxWait - waited - queued,
				forOthers,
				deadline,
				isRepeated: refusals > 0,
				signal,
			};
			const send = async () => {
				end();
				queued += clock.now() - asked;
				return await transport(http);
			};
			return await queue().inTurn(turn, send).finally(end);
		};

		for (;;) {
			signal?.throwIfAborted();
			const rank = rankNow();
			const maxWait = rank === 'awaited' ? policy.maxWait : (turns?.maxWait ?? policy.maxWait);
			const answer = await sendInTurn(rank, maxWait);
			// Another refusal would use up the shared plan and tell nothing new.
			if ('returnAt' in answer) return failed(problem ? finalProblem(problem) : rateLimitProblem(), answer.returnAt);
			// A request that an ended execution breaks off is not a failure of the connection.
			if (!('headers' in answer)) signal?.throwIfAborted();
			const outcome = readAnswer(answer, options.shownAddress ?? address, request.method);
			if (outcome.ok) return outcome;
			const failure = failedAttempt(answer, outcome);

			// The record is gone because an earlier attempt, whose answer was lost, has deleted it.
			const isGone = (failure.status === 404 || failure.status === 410) && !isUnreadable(outcome.problem.details);
			if (mayBeDone && request.method === 'DELETE' && isGone) {
				return { ok: true, response: { status: 204, headers: failure.headers, body: undefined } };
			}
			// A web page in place of a record says nothing about the record.
			const isWithoutRecord = (failure.status ?? 500) < 300 && !outcome.isFinal;
			isOpen = isWithoutRecord || leavesOutcomeOpen(failure, hasKey);
			mayBeDone ||= isOpen;
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
				return failed(finalProblem(problem), decision.returnAt);
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
): Omit<HttpRequest, 'timeout' | 'deadline'> {
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

function failed(problem: Problem, returnAt?: number): RequestOutcome {
	if (returnAt === undefined) return { ok: false, problem };
	const when = `The service accepts requests again at ${new Date(returnAt).toISOString()}.`;
	const description = `${problem.description}\n${when}`;
	return { ok: false, problem: { ...problem, description, returnAt } };
}
