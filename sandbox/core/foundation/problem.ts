/** Every error of the service: HTTP status and title by code. */
export const problems = {
	malformed_json: [400, 'The body is not valid JSON'],
	invalid_parameter: [400, 'A parameter has an invalid value'],
	unknown_parameter: [400, 'Unknown parameter'],
	invalid_cursor: [400, 'The cursor is not valid for this list'],
	invalid_credentials: [401, 'The credentials are not valid'],
	token_expired: [401, 'The access token has expired'],
	insufficient_scope: [403, 'The access token does not allow this'],
	not_found: [404, 'Not found'],
	method_not_allowed: [405, 'The method is not allowed here'],
	duplicate: [409, 'A record with this value already exists'],
	ambiguous_match: [409, 'More than one record matches'],
	invalid_state_transition: [409, 'The record cannot make this change of state'],
	in_use: [409, 'The record is still in use'],
	job_not_finished: [409, 'The job has no results yet'],
	webhook_not_active: [409, 'The subscription is paused or disabled'],
	idempotency_in_progress: [409, 'The first request with this key is still running'],
	results_expired: [410, 'The results of the job have expired'],
	version_mismatch: [412, 'The record has changed in the meantime'],
	payload_too_large: [413, 'The body is too large'],
	unsupported_media_type: [415, 'The body must be JSON'],
	validation_failed: [422, 'The record is not valid'],
	idempotency_key_reused: [422, 'The idempotency key was used for another request'],
	failed_dependency: [424, 'Another item of the batch failed'],
	rate_limited: [429, 'Too many requests'],
	internal_error: [500, 'The service failed'],
	unavailable: [503, 'The service is not available'],
} as const satisfies Record<string, readonly [number, string]>;

export type ProblemCode = keyof typeof problems;

/** The error at one place of a body (JSON Pointer, RFC 6901) or of one parameter. */
export type FieldError = { code: string; detail: string } & (
	| { pointer: string }
	| { parameter: string }
);

/** Maximum number of errors reported for one body, which can have thousands. */
export const maxErrors = 20;

/** The body of an error response (RFC 9457). */
export interface ProblemBody extends Record<string, unknown> {
	status: number;
	detail: string;
	code: ProblemCode;
	errors: FieldError[];
}

interface Extras {
	errors?: FieldError[];
	headers?: Record<string, string>;
	/** Further members of the body (RFC 9457, 3.2). */
	members?: Record<string, unknown>;
}

/** An error, sent as `application/problem+json` (RFC 9457). */
export class Problem extends Error {
	readonly status: number;
	readonly headers: Record<string, string>;
	private readonly code: ProblemCode;
	private readonly extras: Extras;

	constructor(code: ProblemCode, detail: string, extras: Extras = {}) {
		super(detail);
		this.code = code;
		this.status = problems[code][0];
		this.headers = extras.headers ?? {};
		this.extras = extras;
	}

	body(requestId: string): ProblemBody {
		const [status, title] = problems[this.code];
		return {
			type: `https://docs.crm-platform.example/problems/${this.code}`,
			title,
			status,
			detail: this.message,
			code: this.code,
			request_id: requestId,
			errors: (this.extras.errors ?? []).slice(0, maxErrors),
			...this.extras.members,
		};
	}

	response(requestId: string): Response {
		return new Response(JSON.stringify(this.body(requestId)), {
			status: this.status,
			headers: { 'Content-Type': 'application/problem+json', ...this.headers },
		});
	}
}

export const parameterProblem = (code: ProblemCode, parameter: string, detail: string): Problem =>
	new Problem(code, detail, { errors: [{ parameter, code, detail }] });

export const invalidParameter = (parameter: string, detail: string): Problem =>
	parameterProblem('invalid_parameter', parameter, detail);

export const unknownParameter = (name: string): Problem =>
	parameterProblem('unknown_parameter', name, `There is no query parameter ${name} here.`);

/** @param detail by default, that of the first error */
export const validationFailed = (errors: FieldError[], detail = errors[0]!.detail): Problem =>
	new Problem('validation_failed', detail, { errors });
