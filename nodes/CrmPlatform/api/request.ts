import { sleep } from 'n8n-workflow';

import { isPage, problemOf, unreadable, type Problem } from './errors';
import { parseJson } from './json';
import { delayBeforeNext, rateWindow, type RateWindow } from './pace';
import { queryString, type Query } from './path';
import {
	decideRetry,
	retryPolicy,
	type Decision,
	type Failure,
	type RetryPolicy,
} from './retry';
import { signedOutProblem } from './signedOut';
import type { HttpRequest, HttpResponse, Transport } from './transport';
import { unreachable } from './unreachable';

export interface ApiRequest {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** From the service's address on, such as `/v1/contacts`. */
	path: string;
	query?: Query;
	body?: object;
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

export type Outcome = { ok: true; response: ApiResponse } | { ok: false; problem: Problem };

export interface Clock {
	/** Unix epoch milliseconds. */
	now(): number;
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
	random(): number;
}

export const systemClock: Clock = { now: Date.now, sleep, random: Math.random };

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
}

export type Sender = (request: ApiRequest) => Promise<Outcome>;

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

	return async (request) => {
		const http = httpRequest(request, address, timeout);
		const repeatable = request.method === 'GET' || request.idempotency !== undefined;
		let waited = 0;
		let tries = 1;

		const wait = async (ms: number) => {
			if (ms <= 0) return;
			await clock.sleep(ms, signal);
			waited += ms;
		};

		for (;;) {
			await wait(Math.min(delayBeforeNext(window, clock.now()), policy.longestWait - waited));

			const answer = await transport(http);
			if ('headers' in answer) window = rateWindow(answer.headers, clock.now()) ?? window;
			const outcome = read(answer, address);
			if (outcome.ok) return outcome;

			const decision = decideRetry(
				failureOf(answer, outcome.problem),
				{ tries, waited, repeatable, now: clock.now(), random: clock.random() },
				policy,
			);
			if (!decision.retry || signal?.aborted) return withReturn(outcome.problem, decision);
			if (decision.counts) tries += 1;
			await wait(decision.delay);
		}
	};
}

function httpRequest(request: ApiRequest, address: string, timeout: number): HttpRequest {
	const { method, path, query = {}, body, idempotency } = request;
	const headers: Record<string, string> = { accept: 'application/json' };
	if (body) headers['content-type'] = 'application/json';
	if (idempotency) headers[idempotency.header.toLowerCase()] = idempotency.key;
	const http: HttpRequest = { method, url: address + path + queryString(query), headers, timeout };
	if (body) http.body = JSON.stringify(body);
	return http;
}

function read(answer: Answer, address: string): Outcome {
	if ('signedOut' in answer) return { ok: false, problem: signedOutProblem(answer) };
	if ('connectionError' in answer) {
		return { ok: false, problem: unreachable(address, answer.connectionError) };
	}
	const { status, headers, text } = answer;
	if (status < 200 || status >= 300) return { ok: false, problem: problemOf(answer) };
	const body = parseJson(text);
	if (body === undefined && text !== '') {
		return { ok: false, problem: unreadable(answer, 'JSON') };
	}
	return { ok: true, response: { status, headers, body } };
}

function failureOf(answer: Answer, { code }: Problem): Failure {
	if ('signedOut' in answer) return { status: 401, headers: {} };
	if ('connectionError' in answer) return { headers: {} };
	const { status, headers, text } = answer;
	// A success cut short on its way is as passing as a broken connection; a web page is no accident.
	if (status < 300 && !isPage(text)) return { headers };
	return code === undefined ? { status, headers } : { status, headers, code };
}

function withReturn(problem: Problem, decision: Decision): Outcome {
	if (decision.retry || decision.returnAt === undefined) return { ok: false, problem };
	const { returnAt } = decision;
	const when = `The service accepts requests again at ${new Date(returnAt).toISOString()}.`;
	const description = `${problem.description}\n${when}`;
	return { ok: false, problem: { ...problem, description, returnAt } };
}
