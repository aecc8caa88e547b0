import { parseJson, parseLines } from '../../base/json';
import { defined } from '../../base/ownMembers';
import { isUntrusted } from './errorWords';
import {
	contradictoryProblem, describesFailure, isMarkup, type Problem, problemOf, saysNotFound, unreachableProblem, unreadableProblem,
} from './problem';
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

export interface FailedAnswer {
	ok: false;
	problem: Problem;
	attempt: FailedAttempt;
}

/**
 * Turns a response, or the lack of one, into data or a problem in the user's words.
 *
 * @param address of the service, for error messages
 * @param method of the request: a write whose response reports an error must not count as done
 */
export function readAnswer(result: TransportResult, address: string, method: string): SuccessfulAnswer | FailedAnswer {
	if ('signedOut' in result) return { ok: false, problem: signedOutProblem(result), attempt: { status: unauthorized, headers: {} } };
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
