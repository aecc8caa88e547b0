import type { IAllExecuteFunctions } from 'n8n-workflow';

import contract from '../../contract/openapi.json';
import { nodeError } from '../../nodes/CrmPlatform/api/connection';
import { describeError } from '../../nodes/CrmPlatform/api/http/errorWords';
import { problemOf, unreachableProblem, unreadableProblem } from '../../nodes/CrmPlatform/api/http/problem';

const answer = (status: number, body: unknown = '', headers: Record<string, string> = {}) => ({
	status,
	headers,
	text: typeof body === 'string' ? body : JSON.stringify(body),
});

test('the message of a refused body names each field, its problem, and the request', () => {
	const problem = problemOf(
		answer(422, {
			type: 'about:blank',
			title: 'Unprocessable',
			status: 422,
			detail: 'The contact has 2 invalid fields',
			code: 'validation_failed',
			request_id: 'req_1',
			errors: [
				{ pointer: '/email', code: 'invalid_email', detail: 'is not an e-mail address' },
				{ pointer: '/address/country', code: 'too_long' },
			],
		}),
	);
	expect(problem.message).toBe('The contact has 2 invalid fields');
	expect(problem.description).toBe(
		'email: is not an e-mail address\naddress.country: too_long\nCorrect the values and try again.\nRequest ID: req_1',
	);
	expect(problem.details).toMatchObject({ status: 422, code: 'validation_failed', request_id: 'req_1' });
});

test('information of the message is not repeated', () => {
	const errors = [{ pointer: '/email', detail: 'is not an e-mail address' }];
	const detail = 'email: is not an e-mail address.';
	const problem = problemOf(answer(422, { detail, code: 'validation_failed', errors }));
	expect(problem.message).toBe(detail);
	expect(problem.description).not.toContain('e-mail');
});

test.each([402, 418, 451])('a refusal that does not concern the values (%d) does not say to correct them', (status) => {
	expect(problemOf(answer(status, { detail: 'The invoice of July is not paid.' }))).toMatchObject({
		message: 'The invoice of July is not paid.',
		description: expect.stringMatching(/^If the reason is unclear, contact/) as string,
	});
});

test('the message of a duplicate names the record that has the value, once', () => {
	const body = { detail: 'email is taken', code: 'duplicate', existing_id: 'con_1' };
	const problem = problemOf(answer(409, body));
	expect(problem.message).toBe('email is taken');
	expect(problem.description).toContain('To change con_1 instead, use Create or Update.');
	expect(problem.details.existing_id).toBe('con_1');

	const detail = 'email must be unique, and con_1 already has this value.';
	const named = problemOf(answer(409, { ...body, detail, errors: [{ pointer: '/email', code: 'duplicate', detail }] }));
	expect(named.message).toBe(detail);
	expect(named.description).toBe('To change that record instead, use Create or Update.');
});

test.each([
	['a missing record says who may see it', answer(404, { code: 'not_found' }), 'the user of the credential may not see it'],
	[
		'a wrong key tells where to find the right one', answer(401, { detail: 'Unknown key', code: 'invalid_credentials' }),
		'API and integrations',
	],
	[
		'a refused transition lists the possible ones',
		answer(409, { detail: 'No', code: 'invalid_state_transition', allowed: ['open', 'solved'] }), 'open, solved',
	],
])('the advice about %s', (_, refused, advice) => {
	expect(problemOf(refused).description).toContain(advice);
});

test.each([
	['There is no record con_1 in contacts.', 'There is no record con_1 in contacts.'],
	['Not Found', 'The record or path was not found'],
	['Nope', 'The record or path was not found: Nope'],
	['', 'The record or path was not found'],
])('the message of a 404 reports once what happened: %j', (detail, message) => {
	expect(problemOf(answer(404, { detail, code: 'not_found' })).message).toBe(message);
});

describe('every error the contract names', () => {
	interface Answers {
		content: Record<string, { examples: Record<string, { value: { status: number; code: string } }> }>;
	}
	const responses: Answers[] = Object.values(contract.components.responses as unknown as Record<string, Answers>);
	const examples = responses.flatMap(({ content }) => Object.values(content['application/problem+json']?.examples ?? {}));
	const answers = [
		...examples.map(({ value }) => value),
		// Codes of a batch item, which no response has.
		{ status: 424, code: 'failed_dependency' },
	];

	test('is tested here', () => {
		const { code } = contract.components.schemas.Problem.properties;
		expect(answers.map((answer) => answer.code).sort()).toEqual([...code.enum].sort());
	});

	test.each(answers)('$code has a message, with advice', ({ status, code }) => {
		const { message, advice } = describeError(status, { code });
		expect(message).toMatch(/^[A-Z]\w+ /);
		expect(advice).toMatch(/^[A-Z].+\.$/);
	});
});

test.each(['', 'Bad Gateway', '<html>502</html>', '[1,2]', 'null', '"text"', '{"detail":7}'])(
	'an error response of %p is still reported',
	(body) => {
		expect(problemOf(answer(502, body)).message).toContain('The CRM failed (502)');
	},
);

test('an unreadable response is quoted, but shortened', () => {
	const { description } = unreadableProblem(answer(200, `{"data": [${'1,'.repeat(500)}`), 'JSON');
	expect(description).toContain('{"data"');
	expect(description.length).toBeLessThan(300);
});

test.each([
	['ENOTFOUND', 'does not exist'],
	['ECONNREFUSED', 'nothing is listening'],
	['ETIMEDOUT', 'too long'],
	['ECONNABORTED', 'too long'],
	['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate'],
	['EPROTO', 'does not respond over HTTPS'],
	['ERR_SSL_WRONG_VERSION_NUMBER', 'does not respond over HTTPS'],
	['ECONNRESET', 'connection failed'],
])('%s has a message with the address', (code, words) => {
	const problem = unreachableProblem('https://api.example.com', code);
	expect(problem.message).toContain('https://api.example.com');
	expect(problem.message).toContain(words);
	// n8n replaces messages that contain a code by its own.
	expect(problem.message).not.toContain(code);
	expect(problem.details.reason).toBe(code);
});

describe('an error body is read member by member', () => {
	test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('the code %s is a code like any other', (code) => {
		const text = `{"detail":"Refused","code":"${code}","${code}":"x"}`;
		expect(problemOf(answer(422, text))).toMatchObject({ message: 'Refused', code });
	});

	test('endless reasons stay short', () => {
		const many = { detail: 'Refused', errors: Array.from({ length: 500 }, (_, i) => `reason ${i}`) };
		expect(problemOf(answer(422, many)).description.split('\n').length).toBeLessThan(30);
	});
});

test.each([['ECONNRESET', 'temporarily-unavailable'], ['DEPTH_ZERO_SELF_SIGNED_CERT', undefined]])(
	'n8n learns whether the CRM may be reachable later: %s',
	(code, cause) => {
		const n8n = { getNode: () => ({ name: 'CRM' }) } as unknown as IAllExecuteFunctions;
		const error = nodeError(n8n, unreachableProblem('https://api.example.com', code)) as { failure?: { cause?: string } };
		expect(error.failure?.cause).toBe(cause);
	},
);
