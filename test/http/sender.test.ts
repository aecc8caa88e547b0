import type { IAllExecuteFunctions } from 'n8n-workflow';

import type { Clock } from '../../nodes/CrmPlatform/base/clock';
import { createSender, type ApiRequest } from '../../nodes/CrmPlatform/api/http/request';
import { anonymousTransport, type HttpResponse, type NoResponse } from '../../nodes/CrmPlatform/api/http/transport';
import { executeContext } from '../support/node-runs.ts';
import { getMany } from '../support/parameters.ts';
import { startLocalServer } from '../support/local-server.ts';

type Answer = HttpResponse | NoResponse;

const answer = (status: number, body?: object, headers = {}): Answer => ({
	status,
	headers,
	text: body ? JSON.stringify(body) : '',
});
const lost: Answer = { connectionError: 'ECONNRESET' };
const record = answer(200, { id: 'con_1' });

/** Sends a request to a service that gives these answers one after another. */
async function send(request: ApiRequest, ...answers: Answer[]) {
	let time = 0;
	const clock: Clock = { now: () => time, sleep: async (ms) => void (time += ms), random: () => 0.5 };
	let attempts = 0;
	const outcome = await createSender({
		transport: async () => answers[Math.min(attempts++, answers.length - 1)]!,
		address: 'https://api.example.com',
		clock,
		honorsKeys: () => request.idempotency !== ignoredKey,
	})(request);
	return { outcome, attempts, waited: time };
}

const path = '/contacts/con_1';
const patch: ApiRequest = { method: 'PATCH', path, body: { status: 'paused' } };
const post: ApiRequest = { method: 'POST', path: '/contacts', body: {} };
const key = { header: 'Idempotency-Key', key: 'k' };
const ignoredKey = { ...key };

test('a certificate that is not trusted is not tried again, and nothing was written', async () => {
	const { outcome, attempts } = await send(post, { connectionError: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
	expect(attempts).toBe(1);
	expect(!outcome.ok && outcome.problem).toMatchObject({ mayBeDone: false, message: expect.stringContaining('not trusted') });
});

test('a read that is answered with an empty text was cut off, and is tried again', async () => {
	expect(await send({ method: 'GET', path }, answer(200), record)).toMatchObject({ outcome: { ok: true }, attempts: 2 });
	const { outcome } = await send({ method: 'GET', path }, answer(200));
	expect(!outcome.ok && outcome.problem).toMatchObject({
		message: expect.stringContaining('is incomplete'), description: expect.stringContaining('check whether a proxy'),
	});
});

test.each<ApiRequest>([
	{ method: 'GET', path },
	{ method: 'DELETE', path },
	{ method: 'PUT', path: `${path}/tags/tag_1` },
	patch,
])('an idempotent request is retried without a key: $method', async (request) => {
	for (const failure of [lost, answer(500), answer(503), answer(524)]) {
		const { outcome, attempts } = await send(request, failure, record);
		expect({ ok: outcome.ok, attempts }).toEqual({ ok: true, attempts: 2 });
	}
});

test.each<[string, ApiRequest]>([
	['POST', post],
	['POST under a key that the CRM may ignore', { ...post, idempotency: ignoredKey }],
	['an upsert', { method: 'PUT', path: '/contacts', query: { match_on: 'email' }, body: {} }],
	['PATCH under If-Match', { ...patch, headers: { 'if-match': '"1"' } }],
	['PATCH with a list of steps', { ...patch, body: [] }],
	['PATCH to any path', { ...patch, isRepeatable: false }],
])('a write that is not idempotent, without a key, is not retried after a lost response: %s', async (_, request) => {
	const { outcome, attempts } = await send(request, lost, record);
	expect(attempts).toBe(1);
	expect(outcome).toMatchObject({ problem: { description: expect.stringContaining('may have been processed') } });
});

test.each<[string, ApiRequest, Answer]>([
	['a web page with 200, without a key', post, { ...record, text: '<html></html>' }],
	['a web page with 200, under a key', { ...post, idempotency: key }, { ...record, text: '<html></html>' }],
	['attempts under a key that are used up', { ...post, idempotency: key }, answer(500)],
	['a change that may be repeated', patch, lost],
])('the error of a write that may have been processed says so: %s', async (_, request, failure) => {
	const { outcome } = await send(request, failure);
	expect(outcome).toMatchObject({ problem: { description: expect.stringContaining('may have been processed') } });
});

test.each([404, 410])('a deletion whose response was lost is done if the record no longer exists then (%i)', async (status) => {
	const { outcome } = await send({ method: 'DELETE', path }, lost, answer(status));
	expect(outcome).toMatchObject({ ok: true });
});

test('an earlier attempt in progress is waited for far longer than five attempts', async () => {
	const inProgress = answer(409, { code: 'idempotency_in_progress' }, { 'retry-after': '1' });
	const answers = [...Array<Answer>(20).fill(inProgress), record];
	expect(await send({ ...post, idempotency: key }, ...answers)).toMatchObject({ outcome: { ok: true } });
	const { outcome, waited } = await send({ ...post, idempotency: key }, inProgress);
	expect(outcome).toMatchObject({ ok: false, problem: { code: 'idempotency_in_progress' } });
	expect(waited).toBeGreaterThan(250_000);
});

test.each<ApiRequest>([post, patch, { method: 'DELETE', path }])(
	'an error in a success response fails $method, and is not retried',
	async (request) => {
		for (const status of [200, 207]) {
			const failed = answer(status, { error: { message: 'email is taken' } });
			const { outcome, attempts } = await send({ ...request, idempotency: key }, failed, record);
			expect({ outcome, attempts }).toMatchObject({ outcome: { ok: false, problem: { message: 'email is taken' } }, attempts: 1 });
		}
	},
);

test('a response that arrives slowly without end is aborted once at the total timeout, and the error says so', async () => {
	let isBrokenOff: Promise<void> | undefined;
	const server = await startLocalServer((_, response) => {
		response.writeHead(200, { 'content-type': 'application/json' });
		const drip = setInterval(() => response.write(' '), 20);
		isBrokenOff = new Promise((resolve) => {
			response.on('close', () => {
				clearInterval(drip);
				resolve();
			});
		});
	});
	const { context } = executeContext({ credential: { baseUrl: '', apiKey: 'k' }, parameters: getMany('contact') });
	const transport = anonymousTransport(context as unknown as IAllExecuteFunctions);
	const outcome = await createSender({ transport, address: server.url, totalTimeout: 150 })({ method: 'GET', path: '/' });
	expect(outcome).toMatchObject({ ok: false, problem: { message: expect.stringContaining('too long') } });
	await isBrokenOff;
	await server.close();
});
