import { parseJson, parseLines } from '../../base/json';
import { isUntrusted } from './errorWords';
import { contradictoryProblem, describesFailure, isMarkup, type Problem, problemOf, unreachableProblem, unreadableProblem } from './problem';
import type { FailedAttempt } from './retry';
import { signedOutProblem } from './signedOut';
import type { HttpResponse, TransportResult } from './transport';
import { unauthorized } from './statuses';

/** Media type of newline-delimited JSON. */
export const ndjson = 'application/x-ndjson';

export interface SuccessfulAnswer {
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

/** An answer that is not a success. */
export interface FailedAnswer {
	ok: false;
	problem: Problem;
	/** Whether the response is complete, so that a retry would return the same. */
	isFinal?: boolean;
}

/**
 * Turns a response, or the lack of one, into data or a problem in the user's words.
 *
 * @param address of the service, for error messages
 * @param method of the request: a write whose response reports an error must not count as done
 */
export function readAnswer(
	result: TransportResult,
	address: string,
	method: string,
): SuccessfulAnswer | FailedAnswer {
	if ('signedOut' in result) return { ok: false, problem: signedOutProblem(result) };
	if ('connectionError' in result) {
		const { connectionError: code } = result;
		return { ok: false, problem: unreachableProblem(address, code), isFinal: isUntrusted(code) };
	}
	const { status, headers, text } = result;
	if (status < 200 || status >= 300) return { ok: false, problem: problemOf(result) };
	const contentType = headers['content-type'];
	if (result.isGarbled) return { ok: false, problem: unreadableProblem(result, 'text in UTF-8') };
	const body = contentType?.startsWith(ndjson) ? parseLines(text) : parseJson(text);
	// A read is answered with something: an empty text was cut off.
	const isEmpty = text.trim() === '';
	if (body === undefined && (!isEmpty || (method === 'GET' && status === 200))) {
		return { ok: false, problem: unreadableProblem(result, 'JSON') };
	}
	if (describesFailure(body, contentType)) {
		return { ok: false, problem: contradictoryProblem(result, method !== 'GET'), isFinal: true };
	}
	return { ok: true, response: { status, headers, body } };
}

/** The parts of a failed answer that the decision to retry depends on. */
export function failedAttempt(result: TransportResult, { problem: { code }, isFinal }: FailedAnswer): FailedAttempt {
	if ('signedOut' in result) return { status: unauthorized, headers: {} };
	if ('connectionError' in result) {
		const { connectionError: code } = result;
		return { headers: {}, neverArrived: isUntrusted(code) || /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/.test(code) };
	}
	const { status, headers, text } = result;
	// A truncated success is as transient as a broken connection; a web page is not.
	if (status < 300 && !isFinal && !isMarkup(text)) return { headers };
	return code === undefined ? { status, headers } : { status, headers, code };
}
