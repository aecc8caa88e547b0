import type { IDataObject } from 'n8n-workflow';

import { connectionErrors, describeError, type ProblemBody, type Reason } from './errorWords';
import { isObject, parseJson } from '../../base/json';
import { defined, pointerSteps } from '../../base/ownMembers';
import { breaksRule, ruleNumber } from './rules';
import { notFound, rateLimited, refusedWrite, unauthorized } from './statuses';

/** Why a request did not succeed, in the user's words and for programs. */
export interface Problem {
	message: string;
	/** What to do about it. */
	description: string;
	/** HTTP status; undefined without a response. */
	status?: number;
	/** The service's own error code, such as `duplicate`. */
	code?: string;
	details: IDataObject;
	/** Unix epoch milliseconds from which a retry makes sense. */
	retryAt?: number;
	/** Whether any attempt may have been carried out, regardless of the last response. */
	mayBeDone?: boolean;
}

interface ErrorResponse {
	status: number;
	/** Lower-case names. */
	headers: Readonly<Record<string, string | undefined>>;
	text: string;
}

/** The problem that an error response reports: an RFC 9457 body, other JSON, plain text, a page or nothing. */
export function problemOf(response: ErrorResponse): Problem {
	const { status, headers, text } = response;
	const isHtml = isMarkup(text);
	// A web page instead of JSON means that there is no API at this address.
	if (notFound.includes(status) && isHtml) return unreadableProblem(response, 'JSON');
	const body = parseJson(text) ?? (isHtml ? undefined : text);
	return problemOfItem(status, body, headers);
}

/** The problem that a JSON body reports, of a response or an item of a batch. @param headers for details that the body may omit */
export function problemOfItem(status: number, json: unknown, headers: ErrorResponse['headers'] = {}): Problem {
	const body = readProblemBody(json);
	const { message, advice } = describeError(status, body, body.detail ?? body.title);

	const reasons = body.errors ?? [];
	const isSaid = (parts: string[]) => parts.every((part) => message.includes(part));
	const lines = reasons.slice(0, maxReasons).map(partsOf).filter((parts) => !isSaid(parts)).map((parts) => parts.join(': '));
	const more = reasons.length > maxReasons ? [`… and ${reasons.length - maxReasons} more.`] : [];
	const description = [...lines, ...more, advice].join('\n');
	const { code, errors, existing_id } = body;
	const problem: Problem = defined({ message, description, status, details: defined({ status, code, errors, existing_id }), code });
	return withRequestId(problem, body.request_id ?? headers['x-request-id']);
}

/** Maximum number of reasons in the text; `details` has all. */
const maxReasons = 20;

/** The problem of a response whose status says success although its body reports an error. */
export function contradictoryProblem({ status, headers, text }: ErrorResponse, isWrite: boolean): Problem {
	const json = parseJson(text);
	const stated = Number((json as { status?: unknown } | undefined)?.status);
	const problem = problemOfItem(stated >= 400 && stated < 600 ? stated : 422, json, headers);
	const said = `The CRM responded with status ${status}, but reported an error, which breaks ${ruleNumber(20)}.`;
	const hint = isWrite ? `${said} The record may have been written: check it before you try again.` : said;
	return { ...withLine(problem, hint), ...(isWrite && { mayBeDone: true }) };
}

/** The problem of a request whose wait for the rate limit would be too long. @param last of its last attempt, if there was one */
export function waitTooLong(last?: Problem): Problem {
	const problem = last ?? problemOfItem(rateLimited, undefined);
	const why = 'The wait for the rate limit would be too long. For a node in an execution, Maximum Wait in the options sets the limit.';
	return { ...problem, description: `${last ? '' : 'Nothing was sent. '}${why}\n${problem.description}` };
}

/** Whether the service itself refused a write, so that it is not made: only its own errors have a code. */
export const isRefusal = ({ status, code = '', mayBeDone }: Problem): boolean =>
	mayBeDone !== true && refusedWrite.includes(status ?? 0) && code !== '' && !code.startsWith('idempotency');

/** Whether a response came from something other than the API, such as the error page of a web server. */
export const isUnreadable = (details: IDataObject | undefined): boolean => details?.answer !== undefined;

/** Whether the API says that what was requested does not exist. */
export const saysNotFound = (status: number | undefined, details: IDataObject | undefined): boolean =>
	notFound.includes(status ?? 0) && !isUnreadable(details);

/** The problem of a response that cannot be read: a web page, JSON that was cut off, or something other than `expected`. */
export function unreadableProblem(response: ErrorResponse, expected: string): Problem {
	const { status, headers, text } = response;
	const isPage = isMarkup(text);
	const isCutOff = expected === 'JSON' && /^\s*([[{]|$)/.test(text);
	const suspect = isCutOff ? 'whether a proxy shortens the CRM’s responses' : 'the base URL in the credential';
	const problem: Problem = {
		message: isPage
			? 'The URL returned a web page instead of a response from the CRM Platform API'
			: `The CRM’s response (status ${status}) is ${isCutOff ? 'incomplete' : `not ${expected}`}`,
		description: isPage
			? 'Check the base URL in the credential: it is the URL of the API, not of the web application.'
			: `${breaksRule(20)} If it persists, check ${suspect}. The response begins with: ${excerpt(text)}`,
		status,
		details: { status, answer: excerpt(text) },
	};
	return withRequestId(problem, headers['x-request-id']);
}

/** @param code of Node.js or OpenSSL, such as `ECONNREFUSED` */
export function unreachableProblem(address: string, code: string): Problem {
	const [, reason, description] = connectionErrors.find(([codes]) => codes.test(code))!;
	// The code goes into `details`, since n8n replaces messages that contain one.
	return { message: `Could not reach ${address}: ${reason}`, description, details: { reason: code } };
}

const disconnected = [
	'The credential is no longer connected',
	'Open the credential and reconnect it. Access was revoked, or expired because it was not used.',
] as const;
const rejectedClient = [
	'The CRM rejected the OAuth2 client of the credential',
	'Check the client ID and secret in the credential, then reconnect it.',
] as const;
const wordsByReason = new Map<string, readonly [string, string]>([
	['invalid_grant', disconnected],
	['invalid_token', disconnected],
	['invalid_client', rejectedClient],
	['unauthorized_client', rejectedClient],
]);

/** The problem of a request that was not sent: the OAuth2 credential no longer grants access. @param reason as `SignedOut` has it */
export function signedOutProblem(reason: string): Problem {
	const [message, description] = wordsByReason.get(reason) ?? [
		`The credential could not sign in: ${reason}`, 'Check the client ID, the secret and the URLs in the credential, then reconnect it.',
	];
	return { message, description, status: unauthorized, details: { status: unauthorized, reason } };
}

/** A write may have been carried out, although no success was reported. @param isRepeatable whether it could be sent again */
export function uncertainProblem(problem: Problem, isRepeatable: boolean): Problem {
	const why = isRepeatable ? '' : ' The CRM does not accept an idempotency key for it, so it was not retried.';
	return withLine(problem, `The request may have been processed.${why} Check the record before you try again.`);
}

/** Adds the request id, which support asks for first. */
export const withRequestId = (problem: Problem, requestId: string | undefined): Problem =>
	requestId === undefined
		? problem
		: { ...withLine(problem, `Request ID: ${requestId}`), details: { ...problem.details, request_id: requestId } };

export const withLine = (problem: Problem, line: string): Problem => ({ ...problem, description: `${problem.description}\n${line}` });

/** The dotted name of a body field, or the name of a parameter, and what is wrong with it. */
const partsOf = ({ parameter, pointer = '', detail, code }: Reason): string[] =>
	[parameter ?? pointerSteps(pointer).join('.'), detail ?? code ?? ''].filter((part) => part !== '');

export const isMarkup = (text: string): boolean => /^\s*</.test(text);

function excerpt(text: string): string {
	const line = text.slice(0, 1_000).replace(/\s+/g, ' ').trim();
	if (line === '') return '(nothing)';
	return line.length > 120 ? `${line.slice(0, 120)}…` : line;
}

/**
 * Reads an error body member by member, so that one unreadable member does not hide the others (rule 8): `problem+json`,
 * or the text in `message`, `error`, `error.message` or `errors`. A text is its own detail.
 */
function readProblemBody(json: unknown): ProblemBody {
	const body = typeof json === 'string' ? { detail: json } : membersOf(json);
	const inner = membersOf(body.error);
	const member = (name: string) => text(body[name]) ?? text(inner[name]);
	const errors = listOf(body.errors).flatMap((reason) => reasonIn(reason) ?? []);
	const allowed = listOf(body.allowed).flatMap((value) => text(value) ?? []);
	return defined({
		title: member('title'),
		detail: member('detail') ?? member('message') ?? text(body.error),
		code: member('code'),
		request_id: member('request_id'),
		existing_id: member('existing_id'),
		scope: member('scope'),
		allowed: allowed.length > 0 ? allowed : undefined,
		errors: errors.length > 0 ? errors : undefined,
	});
}

function reasonIn(value: unknown): Reason | undefined {
	const { pointer, parameter, code, detail = value, message } = membersOf(value);
	const parts = { pointer: text(pointer), parameter: text(parameter), code: text(code), detail: text(detail) ?? text(message) };
	const reason: Reason = defined(parts);
	return Object.keys(reason).length > 0 ? reason : undefined;
}

/**
 * Whether a body reports a failure although the status says success (rule 20): it is a problem document, or an error in
 * place of the record. A record may have members such as `error` and `status`, but has an id.
 */
export function describesFailure(json: unknown, contentType = ''): boolean {
	if (/^application\/problem\+json/i.test(contentType)) return true;
	const { id, results, data, success, error, errors, status, code, message } = membersOf(json);
	if (text(id) !== undefined || [results, data].some((content) => typeof content === 'object' && content !== null)) return false;
	const isExplained = text(code) !== undefined && text(message) !== undefined;
	return success === false || status === 'error' || Number(status) >= 400 || isExplained || saysError(error) || saysError(errors);
}

export function saysError(error: unknown): boolean {
	if (typeof error === 'object' && error !== null) return Object.keys(error).length > 0;
	return error === true || (typeof error === 'string' && error.trim() !== '');
}

/** Maximum length; longer texts are not meant for people. */
const maxTextLength = 1_000;

/** A text, or a number as text; undefined for any other value, and for blank text. */
function text(value: unknown): string | undefined {
	if (typeof value === 'number' && Number.isFinite(value)) return String(value);
	if (typeof value !== 'string' || value.trim() === '') return undefined;
	return value.length > maxTextLength ? `${value.slice(0, maxTextLength)}…` : value;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const membersOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {});
