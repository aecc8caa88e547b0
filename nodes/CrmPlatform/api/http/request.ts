import { sleep } from 'n8n-workflow';

import { isPage, rateLimitProblem, problemOf, unreadableProblem, type Problem } from './problem';
import { parseJson, parseLines } from './json';
import { delayBeforeNext, latestWindow, rateWindow, type RateWindow } from './pace';
import { queryString, type Query } from './path';
import {
	decideRetry,
	retryPolicy,
	type FailedAttempt,
	type RetryPolicy,
} from './retry';
import { signedOutProblem } from './signedOut';
import type { HttpRequest, HttpResponse, Transport } from './transport';
import { unreachableProblem } from './unreachable';

export interface ApiRequest {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** From the service's address on, such as `/v1/contacts`. */
	path: string;
	query?: Query;
	/** Sent as JSON. */
	body?: object;
	/** Sent in the place of a body, as newline-delimited JSON. */
	lines?: object[];
	/** Sent beside the node's own, or in their place; lower-case names. */
	headers?: Record<string, string>;
	/** The header that carries the idempotency key, and the key: only then is a write tried again. */
	idempotency?: { header: string; key: string };
}

export interface ApiResponse {
	status: number;
	headers: HttpResponse['headers'];
	/** Parsed JSON; undefined where the service sent nothing (204). */
	body: unknown;
}

type Answer = Awaited<ReturnType<Transport>>;

export type RequestOutcome = { ok: true; response: ApiResponse } | { ok: false; problem: Problem };

export interface Clock {
	/** Unix epoch milliseconds. */
	now(): number;
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
	random(): number;
}

export const systemClock: Clock = { now: Date.now, sleep: abortableSleep, random: Math.random };

/** Waits. Up to n8n 2.30, the `sleep` of n8n-workflow knows no signal and would go on after a cancel. */
async function abortableSleep(ms: number, signal?: AbortSignal): Promise<void> {
	if (!signal) return await sleep(ms);
	signal.throwIfAborted();
	await new Promise<void>((resolve, reject) => {
		const abort = () => reject(signal.reason as Error);
		signal.addEventListener('abort', abort, { once: true });
		sleep(ms, signal)
			.then(resolve, reject)
			.finally(() => signal.removeEventListener('abort', abort));
	});
}

interface SenderOptions {
	transport: Transport;
	/** Address of the service without version prefix. */
	address: string;
	/** Aborts waiting; what is under way is aborted by the transport. */
	signal?: AbortSignal | undefined;
	clock?: Clock;
	policy?: RetryPolicy;
	/** Milliseconds one answer may take. */
	timeout?: number;
	/** Told before each wait of how many milliseconds it will be. */
	waiting?(ms: number): void;
}

export type Sender = (request: ApiRequest) => Promise<RequestOutcome>;

/**
 * The one way to the service: tries again what passes, waits while the rate limit asks for it,
 * and turns every answer into data or a problem in the user's words.
 *
 * A sender remembers the rate-limit window its last answer told of, and nothing else: executions
 * and workers share the plan because each asks the service, not each other.
 */
export function createSender(options: SenderOptions): Sender {
	const { transport, address, signal, clock = systemClock, policy = retryPolicy } = options;
	const timeout = options.timeout ?? 60_000;
	let window: RateWindow | undefined;
	let underWay = 0;

	const answerTo = async (http: HttpRequest) => {
		underWay += 1;
		const answer = await transport(http);
		underWay -= 1;
		if ('headers' in answer) {
			const now = clock.now();
			window = latestWindow(window, rateWindow(answer.headers, now), now);
		}
		return answer;
	};

	return async (request) => {
		const http = httpRequest(request, address, timeout);
		const repeatable = request.method === 'GET' || request.idempotency !== undefined;
		let waited = 0;
		let tries = 1;
		let refusals = 0;
		let problem: Problem | undefined;

		const wait = async (ms: number) => {
			if (ms <= 0) return;
			options.waiting?.(ms);
			await clock.sleep(ms, signal);
			waited += ms;
		};

		for (;;) {
			signal?.throwIfAborted();
			const now = clock.now();
			const delay = delayBeforeNext(window, underWay, now);
			// To be refused would cost the others who share the plan, and tell nothing new.
			if (waited + delay > policy.longestWait) return failed(problem ?? rateLimitProblem(), now + delay);
			await wait(delay);

			const answer = await answerTo(http);
			// What an ended execution breaks off is no fault of the connection.
			if (!('headers' in answer)) signal?.throwIfAborted();
			const outcome = read(answer, address);
			if (outcome.ok) return outcome;

			problem = outcome.problem;
			if (problem.status === 429) refusals += 1;
			const decision = decideRetry(
				failureOf(answer, problem),
				{ tries, refusals, waited, repeatable, now: clock.now(), random: clock.random() },
				policy,
			);
			if (!decision.retry) return failed(problem, decision.returnAt);
			if (decision.counts) tries += 1;
			await wait(decision.delay);
		}
	};
}

function httpRequest(request: ApiRequest, address: string, timeout: number): HttpRequest {
	const { method, path, query = {}, body, lines, idempotency } = request;
	const headers: Record<string, string> = { accept: 'application/json' };
	if (body) headers['content-type'] = 'application/json';
	if (lines) headers['content-type'] = ndjson;
	if (idempotency) headers[idempotency.header.toLowerCase()] = idempotency.key;
	Object.assign(headers, request.headers);
	const http: HttpRequest = { method, url: address + path + queryString(query), headers, timeout };
	if (body) http.body = JSON.stringify(body);
	if (lines) http.body = linesOf(lines);
	return http;
}

const ndjson = 'application/x-ndjson';

const linesOf = (values: object[]): string =>
	values.map((value) => `${JSON.stringify(value)}\n`).join('');

function read(answer: Answer, address: string): RequestOutcome {
	if ('signedOut' in answer) return { ok: false, problem: signedOutProblem(answer) };
	if ('connectionError' in answer) {
		return { ok: false, problem: unreachableProblem(address, answer.connectionError) };
	}
	const { status, headers, text } = answer;
	if (status < 200 || status >= 300) return { ok: false, problem: problemOf(answer) };
	const body = headers['content-type']?.startsWith(ndjson) ? parseLines(text) : parseJson(text);
	if (body === undefined && text !== '') {
		return { ok: false, problem: unreadableProblem(answer, 'JSON') };
	}
	return { ok: true, response: { status, headers, body } };
}

function failureOf(answer: Answer, { code }: Problem): FailedAttempt {
	if ('signedOut' in answer) return { status: 401, headers: {} };
	if ('connectionError' in answer) return { headers: {} };
	const { status, headers, text } = answer;
	// A success cut short on its way is as passing as a broken connection; a web page is no accident.
	if (status < 300 && !isPage(text)) return { headers };
	return code === undefined ? { status, headers } : { status, headers, code };
}

function failed(problem: Problem, returnAt?: number): RequestOutcome {
	if (returnAt === undefined) return { ok: false, problem };
	const when = `The service accepts requests again at ${new Date(returnAt).toISOString()}.`;
	const description = `${problem.description}\n${when}`;
	return { ok: false, problem: { ...problem, description, returnAt } };
}
