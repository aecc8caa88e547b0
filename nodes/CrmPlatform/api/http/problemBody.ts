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

/** The readable members of an error body: RFC 9457 with this API's members, or another common shape. */
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
 * Reads an error body member by member, so that one unreadable member does not hide the others. Besides RFC 9457, it
 * reads the reasons of JSON:API (`source`), FastAPI (`loc`, `msg`), RFC 7807's example (`invalid-params`), maps of fields
 * to texts, and plain text.
 *
 * @param json the parsed body, of any type; a text is its own detail
 */
export function readProblemBody(json: unknown): ProblemBody {
	if (typeof json === 'string') {
		const detail = text(json);
		return detail === undefined ? {} : { detail };
	}
	const body = Array.isArray(json) ? { errors: json } : membersOf(json);
	const inner = membersOf(body.error);
	const member = (name: string) => text(body[name]) ?? text(inner[name]);
	const errors = firstReasons([body, inner]);
	const allowed = listOf(body.allowed).flatMap((value) => text(value) ?? []);
	const read: { [Name in keyof ProblemBody]: ProblemBody[Name] | undefined } = {
		title: member('title'),
		detail:
			member('detail') ??
			member('message') ??
			text(body.error_description) ??
			text(body.error) ??
			text(body.reason) ??
			text(body.errors),
		code: member('code'),
		request_id: member('request_id') ?? member('requestId'),
		existing_id: member('existing_id'),
		scope: member('scope'),
		allowed: allowed.length > 0 ? allowed : undefined,
		errors: errors.length > 0 ? errors : undefined,
	};
	return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

/**
 * Whether a body reports a failure although the status says success: it is a problem document, or an error in place of
 * the record. A record may have members such as `error` and `status`, but has an id.
 *
 * @param contentType of the response
 */
export function describesFailure(json: unknown, contentType = ''): boolean {
	if (/^application\/problem\+(json|xml)/i.test(contentType)) return true;
	const body = membersOf(json);
	if (text(body.id) !== undefined || Array.isArray(body.results)) return false;
	const { errors, status, code, data } = body;
	if ([body.success, body.ok].some((done) => done === false || done === 0 || done === 'false')) return true;
	if (errorMembers.some((name) => saysError(body[name]))) return true;
	if ([status, code].some((value) => Number(value) >= 400 && Number(value) < 600)) return true;
	if (outcomeMembers.some((name) => typeof body[name] === 'string' && failedOutcome.test(body[name].trim()))) return true;
	if (data !== undefined && data !== null) return false;
	if (saysError(errors)) return true;
	const isSaid = [body.message, body.detail, body.msg, body.description].some(isText);
	return isSaid && code !== undefined && !/^(0|2\d\d|null|ok|success(ful)?|done|created|updated|deleted)?$/i.test(String(code).trim());
}

const errorMembers = [
	'error', 'err', 'error_code', 'errorCode', 'error_message', 'errorMessage', 'error_msg', 'errorMsg',
	'error_description', 'fault', 'faultcode', 'faultstring', 'exception',
];

/** Members that tell the outcome of a request. */
const outcomeMembers = ['status', 'result', 'state', 'outcome', 'type', 'object', 'kind'];
const failedOutcome =
	/^(error|err|fail|failed|failure|ko|nok|not[ _-]?ok|exception|fault|rejected|refused|denied|unsuccessful)$/i;

/** Whether the value of an error member reports an error. */
export function saysError(error: unknown): boolean {
	if (error === true || listOf(error).length > 0 || isFilledObject(error)) return true;
	return isText(error) && !/^(0|false|none|null|no|ok)$/i.test(String(error).trim());
}

/** Members that hold reasons, the most specific first. */
const reasonMembers = [
	'errors',
	'detail',
	'details',
	'violations',
	'invalid_params',
	'invalid-params',
	'validation_errors',
	'field_errors',
	'fieldErrors',
];

function firstReasons(bodies: readonly Members[]): Reason[] {
	for (const body of bodies) {
		for (const name of reasonMembers) {
			const value = body[name];
			const reasons = typeof value === 'object' ? reasonsIn(value) : [];
			if (reasons.length > 0) return reasons;
		}
	}
	// Django REST framework answers with the fields themselves.
	const [body = {}] = bodies;
	const values = Object.values(body);
	const isMap = values.length > 0 && values.every((value) => Array.isArray(value) && value.every(isText));
	return isMap ? reasonsIn(body) : [];
}

/** Deeper than any real field, and far from a stack overflow. */
const maxDepth = 6;

function reasonsIn(value: unknown, place = '', depth = 0): Reason[] {
	if (depth > maxDepth) return [];
	const detail = text(value);
	if (detail !== undefined) return [place === '' ? { detail } : { pointer: place, detail }];
	if (Array.isArray(value)) return value.flatMap((element) => reasonsIn(element, place, depth + 1));
	const members = membersOf(value);
	const reason = reasonOf(members, place);
	if (reason) return [reason];
	return Object.entries(members).flatMap(([name, inner]) =>
		reasonsIn(inner, `${place}/${name.replace(/~/g, '~0').replace(/\//g, '~1')}`, depth + 1),
	);
}

/** The reason that an object describes; undefined for a map of fields. */
function reasonOf(members: Members, place: string): Reason | undefined {
	const first = (...names: string[]) => names.map((name) => text(members[name])).find(Boolean);
	const source = membersOf(members.source);
	const { loc } = members;
	const detail = first('detail', 'message', 'msg', 'reason', 'description', 'title', 'error');
	const code = first('code', 'type', 'rule');
	let pointer = first('pointer') ?? text(source.pointer);
	let parameter = first('parameter') ?? text(source.parameter);
	if (Array.isArray(loc)) {
		const [where, ...steps] = loc.map(String);
		if (where === 'query' || where === 'header' || where === 'path') parameter ??= steps.join('.');
		else pointer ??= `/${(where === 'body' ? steps : [where, ...steps]).join('/')}`;
	}
	const named = first('field', 'name', 'path', 'property', 'param', 'attribute');
	if (pointer === undefined && parameter === undefined) {
		if (named !== undefined) pointer = `/${named.replace(/^\//, '').replace(/\./g, '/')}`;
		else if (place !== '') pointer = place;
	}
	// A map of fields to texts may have a field called `message`. A reason has a place or a code.
	const isReason = detail !== undefined || (code !== undefined && (pointer ?? parameter) !== undefined);
	if (!isReason) return undefined;
	return {
		...(pointer !== undefined && { pointer }),
		...(parameter !== undefined && { parameter }),
		...(code !== undefined && { code }),
		...(detail !== undefined && { detail }),
	};
}

/** Maximum length; longer texts are not meant for people. */
const maxTextLength = 1_000;

/** A text, or a number as text; undefined for any other value, and for blank text. */
function text(value: unknown): string | undefined {
	if (typeof value === 'number' && Number.isFinite(value)) return String(value);
	if (typeof value !== 'string' || value.trim() === '') return undefined;
	return value.length > maxTextLength ? `${value.slice(0, maxTextLength)}…` : value;
}

const isText = (value: unknown): boolean => text(value) !== undefined;

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The object's own members; empty for any other value. */
function membersOf(value: unknown): Members {
	// Without a prototype, so that no name refers to an inherited member.
	return Object.assign(Object.create(null) as Members, isObject(value) ? value : undefined);
}

const isFilledObject = (value: unknown): boolean => Object.keys(membersOf(value)).length > 0;
