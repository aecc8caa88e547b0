import { z } from 'zod/v4';
import { success } from '../endpoint/responses.ts';
import { type OAuthErrorCode, oauthErrorSchema } from '../oauth/oauth-error.ts';
import { describedText } from '../../core/schemas/fields.ts';
import { type ProblemCode, problems } from '../../core/foundation/problem.ts';
import { exampleId } from '../../core/schemas/request-examples.ts';

const errorHeaders: Record<number, string[]> = {
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
			const codes = (Object.keys(problems) as ProblemCode[]).filter((code) => problems[code][0] === status);
			const description = codes.map((code) => `${code}: ${problems[code][1]}.`).join(' ');
			const response = success(description, problemSchema, ...(errorHeaders[status] ?? []));
			const examples = codes.map((code) => [code, problemExample(code)] as const);
			return [`Problem${status}`, withExamples(response, examples, 'application/problem+json')];
		}),
	);
}

/** A response with an example of each code. */
const withExamples = (
	{ content, ...response }: ReturnType<typeof success>,
	examples: ReadonlyArray<readonly [code: string, value: unknown]>,
	mediaType = 'application/json',
) => ({
	...response,
	content: {
		[mediaType]: {
			...content['application/json'],
			examples: Object.fromEntries(examples.map(([code, value]) => [code, { value }])),
		},
	},
});

export const problemExample = (code: ProblemCode) => ({
	type: `https://docs.crm-platform.example/problems/${code}`,
	title: problems[code][1],
	status: problems[code][0],
	detail: `${problems[code][1]}.`,
	code,
	request_id: exampleId('req'),
	errors: [],
});

/** The schema of every error body (RFC 9457). */
const problemSchema = z.object({
	type: z.string().meta({ format: 'uri', description: 'Identifies the kind of error.' }),
	title: describedText('The kind of error, for people.'),
	status: z.int().meta({ description: 'The HTTP status.' }),
	detail: describedText('An explanation of this error.'),
	code: z.enum(Object.keys(problems)).meta({ description: 'The code, for programs.' }),
	request_id: describedText('Include it when you ask for support.'),
	errors: z.array(z.object({
		pointer: describedText('Place in the body (RFC 6901).').optional(),
		parameter: describedText('Name of the parameter or header.').optional(),
		code: describedText('The code, for programs.'),
		detail: describedText('An explanation of the error.'),
	})).meta({ description: 'The invalid places of the body or the query.' }),
	existing_id: describedText('With duplicate: the record that has the value.').optional(),
	scope: describedText('With insufficient_scope: the required scope.').optional(),
	from: describedText('With invalid_state_transition: the current state.').optional(),
	to: describedText('With invalid_state_transition: the requested state.').optional(),
	allowed: z.array(z.string()).optional().meta({ description: 'With invalid_state_transition: the allowed states.' }),
}).meta({ id: 'Problem', description: 'An error (RFC 9457).' });

/** The error codes of the OAuth 2.0 endpoints by status (RFC 6749, 5.2). */
const oauthCodes: Record<number, OAuthErrorCode[]> = {
	400: ['invalid_request', 'invalid_grant', 'invalid_scope', 'unsupported_grant_type'],
	401: ['invalid_client'],
	405: ['invalid_request'],
	413: ['invalid_request'],
	415: ['invalid_request'],
	429: ['temporarily_unavailable'],
	500: ['server_error'],
	503: ['temporarily_unavailable'],
};

export const oauthErrorResponses = (): Record<string, unknown> =>
	Object.fromEntries(
		Object.entries(oauthCodes).map(([status, codes]) => {
			const examples = codes.map((error) => [error, { error, error_description: 'An explanation of the error.' }] as const);
			const response = success(`${codes.join(', ')}.`, oauthErrorSchema, 'Cache-Control', ...(errorHeaders[Number(status)] ?? []));
			return [`OAuth${status}`, withExamples(response, examples)];
		}),
	);
