import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import { describeError } from './errorWords';
import { parseJson } from './json';
import { problemBody, type ProblemBody } from './problemBody';

/** Why a request did not succeed, in the user's words and for programs. */
export interface Problem {
	/** What happened, in one sentence. */
	message: string;
	/** What to do about it. */
	description: string;
	/** HTTP status; undefined when no answer came. */
	status?: number;
	/** The service's own error code, such as `duplicate`. */
	code?: string;
	/** Everything a program or a support desk may want to know. */
	details: IDataObject;
	/** Unix epoch milliseconds from which it is worth trying again. */
	returnAt?: number;
}

interface Answer {
	status: number;
	headers: Readonly<Record<string, string | undefined>>;
	text: string;
}

/**
 * The problem an answer tells of: from an RFC 9457 body, from any other JSON, from a page or from
 * nothing at all.
 */
export function problemOf(answer: Answer): Problem {
	const { status, headers, text } = answer;
	// Where there is no API, a web server says so with a page.
	if (status === 404 && isPage(text)) return unreadableProblem(answer, 'JSON');
	return problemOfItem(status, parseJson(text), headers);
}

/**
 * The problem a JSON body tells of: of a whole answer, or of one item of a batch.
 *
 * @param headers of the answer it came in: they say what the body may not
 */
export function problemOfItem(
	status: number,
	json: unknown,
	headers: Answer['headers'] = {},
): Problem {
	const parsed = problemBody.safeParse(json);
	const body: ProblemBody = {
		...missingScope(headers['www-authenticate']),
		...(parsed.success ? parsed.data : {}),
	};
	const said = body.detail ?? messageIn(json) ?? body.title;
	const { message, advice } = describeError(status, body, said);

	const lines = [
		...(body.errors ?? []).map(fieldLine).filter((line) => !message.includes(line)),
		advice,
	];
	const details: IDataObject = { status };
	if (body.code !== undefined) details.code = body.code;
	if (body.errors?.length) details.errors = body.errors;
	if (body.existing_id !== undefined) details.existing_id = body.existing_id;
	const problem: Problem = { message, description: lines.join('\n'), status, details };
	if (body.code !== undefined) problem.code = body.code;
	return withRequestId(problem, body.request_id ?? headers['x-request-id']);
}

/** The problem of a request that was not sent, since the wait for the rate limit is too long. */
export function rateLimitProblem(): Problem {
	const limited = problemOfItem(429, undefined);
	const why =
		'Nothing was sent: the node would have to wait for longer than it may (Longest Wait in its options).';
	return { ...limited, description: `${why}\n${limited.description}` };
}

/** What a challenge says of a missing scope (RFC 6750, section 3). */
function missingScope(challenge = ''): ProblemBody {
	if (!/\berror="?insufficient_scope\b/.test(challenge)) return {};
	const scope = /\bscope="([^"]+)"/.exec(challenge)?.[1];
	return { code: 'insufficient_scope', ...(scope !== undefined && { scope }) };
}

/** The problem of an answer that says it succeeded and cannot be understood. */
export function unreadableProblem(answer: Answer, expected: string): Problem {
	const { status, headers, text } = answer;
	const page = isPage(text);
	const problem: Problem = {
		message: page
			? 'The address answered with a web page, not with the CRM Platform API'
			: `The service answered ${status} with something that is not ${expected}`,
		description: page
			? 'Check the base URL in the credential: it is the address of the API, not of the web application.'
			: `The answer begins with: ${excerpt(text)}`,
		status,
		details: { status, answer: excerpt(text) },
	};
	return withRequestId(problem, headers['x-request-id']);
}

/** The problem with what support asks for first. */
export function withRequestId(problem: Problem, requestId: string | undefined): Problem {
	if (requestId === undefined) return problem;
	const description = `${problem.description}\nRequest id: ${requestId}`;
	return { ...problem, description, details: { ...problem.details, request_id: requestId } };
}

/** `Email: is not an e-mail address` for a body field, `sort: unknown field` for a parameter. */
function fieldLine(error: NonNullable<ProblemBody['errors']>[number]): string {
	const place = error.parameter ?? pointerToName(error.pointer ?? '');
	return [place, error.detail ?? error.code].filter(Boolean).join(': ');
}

/** RFC 6901 pointer to the dotted name the node shows. */
function pointerToName(pointer: string): string {
	return pointer
		.split('/')
		.slice(1)
		.map((part) => part.replace(/~1/g, '/').replace(/~0/g, '~'))
		.join('.');
}

/** The message of an error body of any other shape, one level deep. */
function messageIn(json: unknown): string | undefined {
	const found = z
		.object({
			message: z.string().optional(),
			error_description: z.string().optional(),
			error: z.union([z.string(), z.object({ message: z.string() })]).optional(),
		})
		.safeParse(json);
	if (!found.success) return undefined;
	const { message, error_description: description, error } = found.data;
	return message ?? description ?? (typeof error === 'object' ? error.message : error);
}

/** Whether an answer is HTML or XML. */
export function isPage(text: string): boolean {
	return /^\s*</.test(text);
}

function excerpt(text: string): string {
	const line = text.replace(/\s+/g, ' ').trim();
	if (line === '') return '(nothing)';
	return line.length > 120 ? `${line.slice(0, 120)}…` : line;
}
