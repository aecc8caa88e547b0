import { parseJson, parseLines } from '../../base/json';
import {
	contradictoryProblem,
	isMarkup,
	problemOf,
	unreachableProblem,
	unreadableProblem,
	type Problem,
} from './problem';
import { describesFailure } from './problemBody';
import type { FailedAttempt } from './retry';
import { signedOutProblem } from './signedOut';
import type { HttpResponse, TransportResult } from './transport';
import { unauthorized } from './statuses';

/** Media type of newline-delimited JSON. */
export const ndjson = 'application/x-ndjson';

export interface SuccessfulAnswer {
	ok: true;
	/** `body` is parsed JSON; undefined if the service sent nothing (204). */
	response: { status: number; headers: HttpResponse['headers']; body: unknown };
}

/** An answer that is not a success. */
export interface FailedAnswer {
	ok: false;
	problem: Problem;
	/** Whether the answer is complete, so that a retry would return the same. */
	isFinal?: boolean;
}

/**
 * Turns an answer into data or a problem in the user's words.
 *
 * @param address of the service, for error messages
 * @param method of the request: a write whose response reports an error must not count as done
 */
export function readAnswer(
	answer: TransportResult,
	address: string,
	method: string,
): SuccessfulAnswer | FailedAnswer {
	if ('signedOut' in answer) return { ok: false, problem: signedOutProblem(answer) };
	if ('connectionError' in answer) {
		return { ok: false, problem: unreachableProblem(address, answer.connectionError) };
	}
	const { status, headers, text } = answer;
	if (status < 200 || status >= 300) return { ok: false, problem: problemOf(answer) };
	const contentType = headers['content-type'];
	if (answer.isGarbled) {
		const encoding = /charset/i.test(contentType ?? '') ? 'the encoding it names' : 'UTF-8';
		return { ok: false, problem: unreadableProblem(answer, `text in ${encoding}`) };
	}
	const body = contentType?.startsWith(ndjson) ? parseLines(text) : parseJson(text);
	if (body === undefined && text.trim() !== '') {
		return { ok: false, problem: unreadableProblem(answer, 'JSON') };
	}
	if (describesFailure(body, contentType)) {
		return { ok: false, problem: contradictoryProblem(answer, method !== 'GET'), isFinal: true };
	}
	return { ok: true, response: { status, headers, body } };
}

/** The parts of a failed answer that the decision to retry depends on. */
export function failedAttempt(answer: TransportResult, { problem: { code }, isFinal }: FailedAnswer): FailedAttempt {
	if ('signedOut' in answer) return { status: unauthorized, headers: {} };
	if ('connectionError' in answer) {
		return { headers: {}, neverArrived: /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/.test(answer.connectionError) };
	}
	const { status, headers, text } = answer;
	// A truncated success is as transient as a broken connection; a web page is not.
	if (status < 300 && !isFinal && !isMarkup(text)) return { headers };
	return code === undefined ? { status, headers } : { status, headers, code };
}
