import type { IExecuteFunctions } from 'n8n-workflow';

import { connect } from '../../nodes/CrmPlatform/api/connection';
import type { Clock } from '../../nodes/CrmPlatform/base/clock';
import { usualLimits } from '../../nodes/CrmPlatform/api/http/retry';
import { executeContext, nodeRuns } from '../support/node-runs.ts';
import { get, getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { run } = nodeRuns(sandbox);
const path = '/v1/contacts';

/** A connection whose time passes only while it waits, and how long it has waited. */
async function patient(begun = Date.now()) {
	const waits: number[] = [];
	const waited = () => waits.reduce((sum, ms) => sum + ms, 0);
	const clock: Clock = {
		now: () => begun + waited(),
		sleep: async (ms) => void waits.push(ms),
		random: () => 0.5,
	};
	const setup = { credential: sandbox.credential, parameters: getMany('contact') };
	const { context } = executeContext(setup);
	const api = await connect(context as unknown as IExecuteFunctions, clock);
	return { read: async () => await api.send({ method: 'GET', path: '/contacts' }), waits, waited };
}

const usedUp = (reset: number) => ({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) });

describe('the reset', () => {
	const begun = Date.now();
	// The service's clock stands still as well, however slow this machine is.
	const headers = { ...usedUp(begun + 40_000), date: new Date(begun).toUTCString() };

	// Headers give the time to the second.
	const isForty = (ms: number | undefined) => expect(Math.abs((ms ?? 0) - 40_000)).toBeLessThan(2_500);

	test('is respected before the next request', async () => {
		await sandbox.faults({ path, status: 200, body: {}, times: 1, headers });
		const { read, waits } = await patient(begun);
		await read();
		expect(waits).toEqual([]);
		await read();
		isForty(waits[0]);
		expect((await sandbox.requests()).map(({ status }) => status)).toEqual([200, 200]);
	});

	test('is respected after a refusal without Retry-After', async () => {
		await sandbox.faults({ path, status: 429, times: 1, headers });
		const { read, waited } = await patient(begun);
		await read();
		isForty(waited());
		expect((await sandbox.requests()).map(({ status }) => status)).toEqual([429, 200]);
	});
});

describe('a service that refuses permanently', () => {
	test.each([
		['without a word of when to return', () => ({ 'x-ratelimit-reset': '' })],
		['and says to return at once', () => ({ 'retry-after': '0' })],
		['and reports a reset in the past', () => usedUp(Date.now() - 60_000)],
	])('%s gets fewer and fewer requests, and none beyond the cap', async (_, headers) => {
		await sandbox.faults({ path, status: 429, headers: headers() });
		const { read, waits, waited } = await patient();
		await expect(read()).rejects.toMatchObject({ httpCode: '429' });
		expect(waits.slice(0, 4)).toEqual([375, 750, 1500, 3000]);
		expect(waited()).toBeLessThanOrEqual(usualLimits.unattendedWait);
		expect((await sandbox.requests()).length).toBeLessThan(80);
	});
});

test('an item that would have to wait too long is not sent, and its error tells when to try again', async () => {
	await sandbox.faults({ path, status: 200, body: { id: 'con_x' }, headers: usedUp(3600) });
	const { items } = await run(
		{ ...get('contact', 'con_x'), options: { maxWait: 30 } },
		Array.from({ length: 10 }, () => ({})),
		{ continueOnFail: true },
	);
	const sentCount = (await sandbox.requests()).length;
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
