import { problems, type ProblemCode } from '../foundation/problem.ts';

type Headers = Record<string, { $ref: string }>;

export const headerRefs = (...names: string[]): Headers =>
	Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** On every response. */
export const commonHeaders = headerRefs(
	'X-Request-Id',
	'X-RateLimit-Remaining',
	'X-RateLimit-Reset',
);

export const headers = {
	'X-Request-Id': {
		description: 'Identifies the request.',
		schema: { type: 'string' },
	},
	'X-RateLimit-Remaining': {
		description: 'Requests still available in this window.',
		schema: { type: 'integer', minimum: 0 },
	},
	'X-RateLimit-Reset': {
		description: 'When the window resets, in seconds since 1970.',
		schema: { type: 'integer' },
	},
	'Retry-After': {
		description: 'Seconds to wait before the next try.',
		schema: { type: 'integer', minimum: 1 },
	},
	ETag: { description: 'The version of the record.', schema: { type: 'string' } },
	Location: { description: 'Path of the new record.', schema: { type: 'string' } },
	'Idempotent-Replayed': {
		description: 'true if this is the answer to an earlier request with the same key.',
		schema: { type: 'string', enum: ['true'] },
	},
	Allow: { description: 'The methods that are possible.', schema: { type: 'string' } },
	'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } },
	'Cache-Control': { description: 'Answers are not to be kept.', schema: { type: 'string' } },
	Deprecation: {
		description: 'The date since which this is deprecated (RFC 9745).',
		schema: { type: 'string', pattern: '^@\\d+$' },
	},
	Sunset: {
		description: 'The date after which this is no longer available, as an HTTP date (RFC 8594).',
		schema: { type: 'string' },
	},
	Link: { description: 'What to use instead, and where to read on.', schema: { type: 'string' } },
};

export const errorHeaders: Record<number, string[]> = {
	401: ['WWW-Authenticate'],
	403: ['WWW-Authenticate'],
	405: ['Allow'],
	409: ['Retry-After'],
	412: ['ETag'],
	429: ['Retry-After'],
};

/** What an error response is called under components: `Problem404`. */
const nameOf = (status: number): string => `Problem${status}`;

/** One response per error status, with an example of each code. */
export function errorResponses(): Record<string, unknown> {
	const statuses = new Set<number>(Object.values(problems).map(([status]) => status));
	// Only an item of a batch is answered with this one.
	statuses.delete(problems.failed_dependency[0]);
	return Object.fromEntries(
		[...statuses].map((status) => {
			const codes = (Object.keys(problems) as ProblemCode[]).filter(
				(code) => problems[code][0] === status,
			);
			return [
				nameOf(status),
				{
					description: codes.map((code) => `${code}: ${problems[code][1]}.`).join(' '),
					headers: { ...commonHeaders, ...headerRefs(...(errorHeaders[status] ?? [])) },
					content: {
						'application/problem+json': {
							schema: { $ref: '#/components/schemas/Problem' },
							examples: Object.fromEntries(codes.map((code) => [code, { value: problemExample(code) }])),
						},
					},
				},
			];
		}),
	);
}

export const errors = (...statuses: number[]): Record<string, { $ref: string }> =>
	Object.fromEntries(
		statuses.map((status) => [status, { $ref: `#/components/responses/${nameOf(status)}` }]),
	);

/** A successful response with a JSON body. */
export const success = (description: string, schema: string, ...extraHeaders: string[]) => ({
	description,
	headers: { ...commonHeaders, ...headerRefs(...extraHeaders) },
	content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
});

export const noContent = (description: string, ...extraHeaders: string[]) => ({
	description,
	headers: { ...commonHeaders, ...headerRefs(...extraHeaders) },
});

export const problemExample = (code: ProblemCode) => ({
	type: `https://docs.crm-platform.example/problems/${code}`,
	title: problems[code][1],
	status: problems[code][0],
	detail: `${problems[code][1]}.`,
	code,
	request_id: 'req_01jz8q4t6v9x2b5n7m3k1h0d4f',
	errors: [],
});
