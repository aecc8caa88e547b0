import { problems } from '../../../sandbox/core/foundation/problem.ts';
import type { Json } from '../../sandbox/harness/in-process.ts';

/** An answer as it came, whoever sent it. */
export interface Answered {
	status: number;
	headers: Headers;
	text: string;
}

/**
 * What the service promises of every answer, whatever was asked, and this one does not keep; in
 * words.
 *
 * @param path of the request: OAuth's endpoints answer in words of their own (RFC 6749, 5.2)
 */
export function brokenAnswerPromises(method: string, path: string, answer: Answered): string[] {
	const { status, headers, text } = answer;
	const broken: string[] = [];
	const expect = (isKept: boolean, promise: string) => {
		if (!isKept) broken.push(promise);
	};
	const type = headers.get('Content-Type') ?? '';
	expect(status < 500, 'no request makes the service fail');
	expect(/^req_[0-9a-z]{26}$/.test(headers.get('X-Request-Id') ?? ''), 'X-Request-Id is there');
	for (const name of ['X-RateLimit-Remaining', 'X-RateLimit-Reset']) {
		expect(/^\d+$/.test(headers.get(name) ?? ''), `${name} is a whole number`);
	}
	if (method === 'HEAD') {
		expect(text === '', 'HEAD has no body');
	} else if (isAuthorization(path) && (text === '' || type.startsWith('text/html'))) {
		// A page for a person: what clients are told is not in it.
	} else if (/^\/oauth\/(authorize|token|revoke)$/.test(path)) {
		if (status >= 400 || isAuthorization(path)) {
			expect(/^application\/json/.test(type), 'OAuth errors are JSON');
			expect(isOAuthError(parsed(text)), 'OAuth errors are those of RFC 6749');
		}
	} else if (status >= 400) {
		expect(type === 'application/problem+json', 'errors are application/problem+json');
		broken.push(...flawsOfProblem(parsed(text), status));
		expect(parsed(text)?.request_id === headers.get('X-Request-Id'), 'the problem names its request');
	} else if (status === 207) {
		for (const { status: itemStatus, error } of parsed(text).results) {
			expect(itemStatus < 500, 'no item makes the service fail');
			if (error) broken.push(...flawsOfProblem(error, itemStatus));
		}
	} else if (type === 'application/x-ndjson') {
		for (const line of text.split('\n').filter(Boolean)) expect(!!parsed(line), 'results are JSON lines');
	} else if (text !== '') {
		expect(parsed(text) !== undefined, 'answers are JSON');
	}
	return broken;
}

/** Pages that show an error to a person instead of reporting it to the client (RFC 6749, 4.1.2.1). */
const isAuthorization = (path: string): boolean => path === '/oauth/authorize';

function flawsOfProblem(problem: Json, status: number): string[] {
	const [ofCode, title] = problems[problem?.code as keyof typeof problems] ?? [];
	const errors: Json[] = Array.isArray(problem?.errors) ? problem.errors : [undefined];
	const isKept = {
		'the code is a known one': ofCode !== undefined,
		'the status is that of the code': problem?.status === status && ofCode === status,
		'title and detail are words': problem?.title === title && isWords(problem?.detail),
		'each error names its place and what is wrong there': errors.every(isFieldError),
	};
	return Object.entries(isKept).flatMap(([promise, holds]) => (holds ? [] : [promise]));
}

const isFieldError = (error: Json): boolean =>
	isWords(error?.code) &&
	isWords(error?.detail) &&
	// RFC 6901, 3.
	(typeof error.parameter === 'string' || /^(\/([^~/]|~0|~1)*)*$/s.test(error.pointer ?? '/~'));

/** RFC 6749, 5.2 and RFC 6750; the description has printable ASCII only. */
const isOAuthError = (body: Json): boolean =>
	/^[a-z_]+$/.test(body?.error ?? '') &&
	/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/.test(body.error_description ?? '');

const isWords = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

function parsed(text: string): Json {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
