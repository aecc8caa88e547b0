import type { IExecuteFunctions } from 'n8n-workflow';

import { connect } from '../../nodes/CrmPlatform/api/connection';
import type { Clock } from '../../nodes/CrmPlatform/base/clock';
import { until } from '../support/until.ts';
import { executeContext, nodeRuns } from '../support/node-runs.ts';
import { create, get, getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { run } = nodeRuns(sandbox);
/** Whose queue only one test closes. */
const untouched = useSandbox();
const small = useSandbox({ requestsPerMinute: 3 });

test('a request that the end of the execution interrupts does not count as a broken connection', async () => {
	await sandbox.faults({ path: '/v1/contacts', latencyMs: 600_000 });
	const cancel = new AbortController();
	const running = run(getMany('contact'), [{}], { abort: cancel.signal });
	const ended = expect(running).rejects.toThrow('The execution was canceled');
	const struck = async () => {
		const { body } = await sandbox.call('GET', '/_sandbox/faults');
		return (body as unknown as Array<{ hits: number }>)[0]?.hits;
	};
	await until(async () => ((await struck()) ?? 0) > 0);
	cancel.abort();
	await ended;
});

test('executions of one process know that others have used up the plan, and send nothing; a new key sends its own requests', async () => {
	const read = async (apiKey = small.credential.apiKey) =>
		await run(
			getMany('contact', { options: { maxWait: 0 } }),
			[{}],
			{ credential: { ...small.credential, apiKey } },
		).catch((error: Error) => error);
	const limited = expect.objectContaining({ httpCode: '429', description: expect.stringContaining('Try again after') });
	const requestCounts: number[] = [];
	// The plan's window may end between two of them.
	while (requestCounts.at(-1) !== 0 && requestCounts.length < 3) {
		while (!((await read()) instanceof Error));
		const { length } = await small.requests();
		expect(await read()).toEqual(limited);
		requestCounts.push((await small.requests()).length - length);
	}
	expect(requestCounts.at(-1)).toBe(0);
	const { length } = await small.requests();
	expect(await read('another')).toMatchObject({ httpCode: '401' });
	expect((await small.requests()).length).toBe(length + 1);
});

describe('a long wait', () => {
	test('is reported to the user when the node is done', async () => {
		let time = Date.now();
		const clock: Clock = {
			now: () => time,
			sleep: async (ms) => void (time += ms),
			random: () => 0.5,
		};
		const { context } = executeContext({ credential: sandbox.credential, parameters: getMany('contact') });
		const api = await connect(context as unknown as IExecuteFunctions, clock);
		const headers = { 'retry-after': '42' };
		await sandbox.faults({ path: '/v1/contacts', status: 429, headers, times: 1 });
		await api.send({ method: 'GET', path: '/contacts' });
		expect([...api.notices]).toEqual([expect.stringContaining('42 s')]);
	});

	test('ends when the execution is canceled', async () => {
		const headers = { 'retry-after': '60' };
		await sandbox.faults({ path: '/v1/contacts', method: 'POST', status: 429, headers });
		const cancel = new AbortController();
		const running = run(create('contact', { email: 'waits@waiting.example' }), [{}], { abort: cancel.signal });
		const ended = expect(running).rejects.toThrow('The execution was canceled');
		await sandbox.logged(1);
		cancel.abort();
		await ended;
	});
});

test('an item that would have to wait too long is not sent, and its error tells when to try again', async () => {
	const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '3600' };
	await untouched.faults({ path: '/v1/contacts', status: 200, body: { id: 'con_x' }, headers });
	const { items } = await run(
		{ ...get('contact', 'con_x'), options: { maxWait: 30 } },
		Array.from({ length: 10 }, () => ({})),
		{ continueOnFail: true, credential: untouched.credential },
	);
	const sentCount = (await untouched.requests()).length;
	// Some requests are in flight before the first answer reports the window.
	expect(sentCount).toBeLessThan(5);
	for (const { json } of items.slice(0, sentCount)) expect(json).toEqual({ id: 'con_x' });
	for (const { json } of items.slice(sentCount)) {
		expect(json).toMatchObject({
			error: expect.stringContaining('rate limit'),
			details: { description: expect.stringMatching(/Nothing was sent.+Try again after 20/s) },
		});
	}
});
