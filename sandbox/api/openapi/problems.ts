import { commonHeaders, headerRefs } from '../endpoint/responses.ts';
import { type ProblemCode, problems } from '../../core/foundation/problem.ts';
import type { JsonSchema } from '../../core/schemas/json-schema.ts';

export const errorHeaders: Record<number, string[]> = {
	401: ['WWW-Authenticate'],
	403: ['WWW-Authenticate'],
	405: ['Allow'],
	409: ['Retry-After'],
	412: ['ETag'],
	429: ['Retry-After'],
};

/** One response per error status, with an example of each code. */
export function errorResponses(): Record<string, unknown> {
	const statuses = new Set<number>(Object.values(problems).map(([status]) => status));
	// Only items of a batch get this status.
	statuses.delete(problems.failed_dependency[0]);
	return Object.fromEntries(
		[...statuses].map((status) => {
			const codes = (Object.keys(problems) as ProblemCode[]).filter(
				(code) => problems[code][0] === status,
			);
			return [
				`Problem${status}`,
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

export const problemExample = (code: ProblemCode) => ({
	type: `https://docs.crm-platform.example/problems/${code}`,
	title: problems[code][1],
	status: problems[code][0],
	detail: `${problems[code][1]}.`,
	code,
	request_id: 'req_01jz8q4t6v9x2b5n7m3k1h0d4f',
	errors: [],
});

/** The schema of every error body (RFC 9457). */
export const problemSchema: JsonSchema = {
	description: 'An error (RFC 9457).',
	type: 'object',
	properties: {
		type: { type: 'string', format: 'uri', description: 'Identifies the kind of error.' },
		title: { type: 'string', description: 'The kind of error, for people.' },
		status: { type: 'integer', description: 'The HTTP status.' },
		detail: { type: 'string', description: 'An explanation of this error.' },
		code: { type: 'string', enum: Object.keys(problems), description: 'The code, for programs.' },
		request_id: { type: 'string', description: 'Include it when you ask for support.' },
		errors: {
			type: 'array',
			description: 'The invalid places of the body or the query.',
			items: {
				type: 'object',
				properties: {
					pointer: { type: 'string', description: 'Place in the body (RFC 6901).' },
					parameter: { type: 'string', description: 'Name of the parameter or header.' },
					code: { type: 'string', description: 'The code, for programs.' },
					detail: { type: 'string', description: 'An explanation of the error.' },
				},
				required: ['code', 'detail'],
			},
		},
		existing_id: { type: 'string', description: 'With duplicate: the record that has the value.' },
		scope: { type: 'string', description: 'With insufficient_scope: the required scope.' },
		from: { type: 'string', description: 'With invalid_state_transition: the current state.' },
		to: { type: 'string', description: 'With invalid_state_transition: the requested state.' },
		allowed: {
			type: 'array',
			description: 'With invalid_state_transition: the allowed states.',
			items: { type: 'string' },
		},
	},
	required: ['type', 'title', 'status', 'detail', 'code', 'request_id', 'errors'],
};
