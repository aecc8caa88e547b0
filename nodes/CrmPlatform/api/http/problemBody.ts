import { isObject } from '../../base/json';

/** One reason why a request was refused, and the part of the request that it concerns. */
export interface Reason {
	/** RFC 6901 pointer into the body, such as `/address/country`. */
	pointer?: string;
	/** Name of a query parameter. */
	parameter?: string;
	code?: string;
	detail?: string;
}

/** The readable members of an error body: RFC 9457 with this API's members, or the text of another one. */
export interface ProblemBody {
	title?: string;
	/** What happened, from whichever member says it. */
	detail?: string;
	code?: string;
	request_id?: string;
	existing_id?: string;
	scope?: string;
	allowed?: string[];
	errors?: Reason[];
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads an error body member by member, so that one unreadable member does not hide the others (rule 8): `problem+json`,
 * or the text in `message`, `error`, `error.message` or `errors`.
 *
 * @param json the parsed body, of any type; a text is its own detail
 */
export function readProblemBody(json: unknown): ProblemBody {
	const body = typeof json === 'string' ? { detail: json } : membersOf(json);
	const inner = membersOf(body.error);
	const member = (name: string) => text(body[name]) ?? text(inner[name]);
	const errors = listOf(body.errors).flatMap((reason) => reasonIn(reason) ?? []);
	const allowed = listOf(body.allowed).flatMap((value) => text(value) ?? []);
	const read: { [Name in keyof ProblemBody]: ProblemBody[Name] | undefined } = {
		title: member('title'),
		detail: member('detail') ?? member('message') ?? text(body.error),
		code: member('code'),
		request_id: member('request_id'),
		existing_id: member('existing_id'),
		scope: member('scope'),
		allowed: allowed.length > 0 ? allowed : undefined,
		errors: errors.length > 0 ? errors : undefined,
	};
	return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

function reasonIn(value: unknown): Reason | undefined {
	const { detail = value, message, ...members } = membersOf(value);
	const parts = { pointer: members.pointer, parameter: members.parameter, code: members.code, detail: text(detail) ?? message };
	const texts = Object.entries(parts).flatMap(([name, part]) => (text(part) === undefined ? [] : [[name, text(part)]]));
	return texts.length > 0 ? (Object.fromEntries(texts) as Reason) : undefined;
}

/**
 * Whether a body reports a failure although the status says success (rule 20): it is a problem document, or an error in
 * place of the record. A record may have members such as `error` and `status`, but has an id.
 *
 * @param contentType of the response
 */
export function describesFailure(json: unknown, contentType = ''): boolean {
	if (/^application\/problem\+json/i.test(contentType)) return true;
	const { id, results, data, success, error, errors, status, code, message } = membersOf(json);
	if (text(id) !== undefined || [results, data].some((content) => typeof content === 'object' && content !== null)) return false;
	const isExplained = text(code) !== undefined && text(message) !== undefined;
	return success === false || status === 'error' || Number(status) >= 400 || isExplained || saysError(error) || saysError(errors);
}

/** Whether the value of an error member reports an error. */
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

/** The object's own members; empty for any other value. */
function membersOf(value: unknown): Members {
	// Without a prototype, so that no name refers to an inherited member.
	return Object.assign(Object.create(null) as Members, isObject(value) ? value : undefined);
}
