import { randomUUID } from 'node:crypto';

import { type Clock, systemClock } from '../../base/clock';
import { parseJson, parseLines } from '../../base/json';
import { defined } from '../../base/ownMembers';
import { isUntrusted } from './errorWords';
import { type Query, queryString, wholePath } from './path';
import {
	contradictoryProblem, describesFailure, isMarkup, type Problem, problemOf, saysNotFound, signedOutProblem, uncertainProblem,
	unreachableProblem, unreadableProblem, waitTooLong, withLine,
} from './problem';
import { queueFor, type OnWait, type QueueOptions, type QueueTimeout, type SentRequest } from './requestQueue';
import { afterFailure, noAttempts, type RequestLimits, type RetriedRequest, type RetryProgress, usualLimits, type FailedAttempt } from './retry';
import { unauthorized } from './statuses';
import type { HttpRequest, Transport, HttpResponse, TransportResult } from './transport';

export interface ApiRequest {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Such as `/contacts/con_1`. */
	path: string;
	/** Whether the path is sent as it is, without the version prefix. */
	isWholePath?: true;
	query?: Query | undefined;
	/** Sent as JSON. */
	body?: object | undefined;
	/** JSON texts, sent as newline-delimited JSON instead of `body`. */
	lines?: string[] | undefined;
	/** Added to the node's headers, or replacing them; lower-case names. */
	headers?: Record<string, string> | undefined;
	/** The idempotency key, by which the service recognizes a repeated write. */
	idempotency?: { header: string; key: string } | undefined;
	/** Whether repeating the request has no further effect; by default, the result of `isIdempotent`. */
	isRepeatable?: boolean | undefined;
}

export type ApiResponse = SuccessfulAnswer['response'];

type RequestAnswer = SuccessfulAnswer | { ok: false; problem: Problem };

interface SenderSettings {
	transport: Transport;
	/** Address of the service without version prefix. */
	address: string;
	/** The same in error messages. */
	shownAddress: string;
	clock: Clock;
	limits: RequestLimits;
	/** Milliseconds that a connection may be silent. */
	timeout: number;
	/** Milliseconds until a response must be complete. */
	totalTimeout: number;
	/** By default, the sender has a queue of its own. */
	queueOptions: QueueOptions;
	/** Whether the service is known to honor keys. Otherwise they are sent, but make no write repeatable. */
	honorsKeys: () => boolean;
	/** Aborts waits; the transport aborts requests in flight. */
	signal?: AbortSignal | undefined;
	/** Called before each wait, in the queue or before a retry. */
	onWait?: OnWait;
}

/** Requests after which an execution counts as bulk: more than a form, a look-up or a few pages need. */
const bulkThreshold = 20;

/** All requests to the service pass through a sender: it retries transient errors, respects rate limits, and returns data or a problem. */
export function createSender(
	options: Pick<SenderSettings, 'transport' | 'address'> & Partial<SenderSettings>,
): (request: ApiRequest) => Promise<RequestAnswer> {
	const settings: SenderSettings = {
		shownAddress: options.address,
		clock: systemClock,
		limits: usualLimits,
		timeout: 60_000,
		// A page or a batch takes seconds, an export over a slow connection minutes.
		totalTimeout: 5 * 60_000,
		queueOptions: ownQueue(),
		honorsKeys: () => true,
		...options,
	};
	return async (request) => await sendUntilDone(settings, request);
}

const ownQueue = (): QueueOptions =>
	({ queueName: randomUUID(), workflow: '', priority: 'ordinary', laterPriority: 'ordinary', reserve: 0 });

async function sendUntilDone(sender: SenderSettings, request: ApiRequest): Promise<RequestAnswer> {
	const { signal, clock, limits, onWait, honorsKeys } = sender;
	const http = toHttpRequest(request, sender);
	const hasKey = request.idempotency !== undefined;
	const isRepeatable = (hasKey && honorsKeys()) || (request.isRepeatable ?? isIdempotent(request));
	const retried: RetriedRequest = { method: request.method, isRepeatable, hasKey };
	let progress = noAttempts;
	let lastProblem: Problem | undefined;
	for (;;) {
		signal?.throwIfAborted();
		const turn = await sendInTurn(sender, http, progress);
		// Another attempt would only be refused, at the cost of the shared plan.
		if ('retryAt' in turn) return answerOfFailure(retried, progress, waitTooLong(lastProblem), turn.retryAt);
		const { result, waited } = turn;
		// A request aborted by a canceled execution is not a connection failure.
		if (!('headers' in result)) signal?.throwIfAborted();
		const answer = readAnswer(result, sender.shownAddress, request.method);
		if (answer.ok) {
			const isReplayed = !progress.mayBeDone && answer.response.headers['idempotent-replayed'] === 'true';
			return { ok: true, response: { ...answer.response, isReplayed } };
		}
		const { attempt, problem } = answer;
		const before = { ...progress, queued: progress.queued + waited };
		const after = afterFailure(retried, before, attempt, { now: clock.now(), random: clock.random() }, limits);
		const { step } = after;
		progress = after.progress;
		lastProblem = { ...problem, mayBeDone: progress.mayBeDone || problem.mayBeDone === true };
		if (step.next === 'succeed') return { ok: true, response: { status: 204, headers: attempt.headers, body: undefined } };
		if (step.next === 'fail') return answerOfFailure(retried, progress, lastProblem, step.retryAt);
		if (step.next === 'queue') continue;
		const endWait = onWait?.();
		await clock.sleep(step.ms, signal).finally(endWait);
	}
}

async function sendInTurn(
	sender: SenderSettings,
	http: HttpRequest,
	{ wasDeferred, queued }: RetryProgress,
): Promise<SentRequest | QueueTimeout> {
	const { transport, signal, clock, limits, queueOptions, onWait } = sender;
	const { queueName, workflow } = queueOptions;
	const execution = queueOptions.execution || sender;
	const queue = queueFor(queueName, clock);
	const priority = queue.sentCount(execution) < bulkThreshold ? queueOptions.priority : queueOptions.laterPriority;
	const reserve = priority === 'bulk' ? queueOptions.reserve : 0;
	const maxWait = priority === 'awaited' ? limits.wait : limits.unattendedWait;
	const timeoutAt = clock.now() + maxWait - queued;
	const turn = { priority, workflow, execution, reserve, wasDeferred, timeoutAt, signal, onWait };
	return await queue.enqueue(turn, async () => await transport(http));
}

function answerOfFailure({ isRepeatable }: RetriedRequest, { isUncertain }: RetryProgress, problem: Problem, retryAt?: number): RequestAnswer {
	const last = isUncertain ? uncertainProblem(problem, isRepeatable) : problem;
	if (retryAt === undefined) return { ok: false, problem: last };
	return { ok: false, problem: { ...withLine(last, `Try again after ${new Date(retryAt).toISOString()}.`), retryAt } };
}

/**
 * Whether the method allows repeating a request (RFC 9110, section 9.2.2). A PATCH is a merge patch (RFC 7396), which sets
 * values. A PUT with a query is an upsert, which may create a second record while the first attempt is running. Under
 * If-Match, a repeated change fails because the first one succeeded.
 */
export function isIdempotent({ method, query = {}, body, headers = {} }: ApiRequest): boolean {
	if (method === 'GET' || method === 'DELETE') return true;
	if (method === 'POST' || 'if-match' in headers) return false;
	if (method === 'PUT') return Object.keys(query).length === 0;
	return body !== undefined && !Array.isArray(body);
}

function toHttpRequest(request: ApiRequest, { address, timeout, totalTimeout }: SenderSettings): HttpRequest {
	const { method, path, isWholePath, query = {}, body, lines, idempotency } = request;
	return {
		method,
		timeout,
		totalTimeout,
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

const ndjson = 'application/x-ndjson';

interface SuccessfulAnswer {
	ok: true;
	/** `body` is parsed JSON; undefined if the service sent nothing (204). */
	response: {
		status: number;
		headers: HttpResponse['headers'];
		body: unknown;
		/** Whether the service returned the answer of an earlier request under this key, which no attempt at this one can be. */
		isReplayed?: boolean;
	};
}

interface FailedAnswer {
	ok: false;
	problem: Problem;
	attempt: FailedAttempt;
}

/** @param address for error messages @param method a write whose response reports an error must not count as done */
export function readAnswer(result: TransportResult, address: string, method: string): SuccessfulAnswer | FailedAnswer {
	if ('signedOut' in result) return { ok: false, problem: signedOutProblem(result.signedOut), attempt: { status: unauthorized, headers: {} } };
	if ('connectionError' in result) {
		const { connectionError: code, isOverdue = false } = result;
		const neverArrived = isUntrusted(code) || /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/.test(code);
		const problem = unreachableProblem(address, code);
		return { ok: false, problem, attempt: { headers: {}, neverArrived, isFinal: isUntrusted(code) || isOverdue } };
	}
	const { status, headers, text } = result;
	if (status < 200 || status >= 300) {
		const problem = problemOf(result);
		const isGone = saysNotFound(status, problem.details);
		return { ok: false, problem, attempt: defined({ status, headers, isGone, code: problem.code }) };
	}
	const unreadable = (expected: string): FailedAnswer => {
		// A truncated success is as transient as a broken connection; a web page is not.
		const attempt = isMarkup(text) ? { status, headers } : { headers };
		return { ok: false, problem: unreadableProblem(result, expected), attempt };
	};
	const contentType = headers['content-type'];
	if (result.isGarbled) return unreadable('text in UTF-8');
	const body = contentType?.startsWith(ndjson) ? parseLines(text) : parseJson(text);
	// A read is answered with something: an empty text was cut off.
	const isEmpty = text.trim() === '';
	if (body === undefined && (!isEmpty || (method === 'GET' && status === 200))) return unreadable('JSON');
	if (describesFailure(body, contentType)) {
		return { ok: false, problem: contradictoryProblem(result, method !== 'GET'), attempt: { status, headers, isFinal: true } };
	}
	return { ok: true, response: { status, headers, body } };
}
