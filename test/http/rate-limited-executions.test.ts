import type { Clock } from '../../nodes/CrmPlatform/base/clock';
import { createSender } from '../../nodes/CrmPlatform/api/http/request';
import type { Transport } from '../../nodes/CrmPlatform/api/http/transport';
import { useSandbox } from '../support/sandbox.ts';

/** A minute passes when somebody waits a minute. */
let time = Date.now();
const clock: Clock = {
	now: () => time,
	sleep: async (ms) => void (time += ms),
	random: () => 0.5,
};

const perMinute = 10;
const sandbox = useSandbox({ requestsPerMinute: perMinute, now: clock.now });

/** Sends real requests; only the time in the answers is that of the clock. */
const statuses: number[] = [];
const transport: Transport = async ({ method, url, headers }) => {
	const response = await fetch(url, {
		method,
		headers: { ...headers, authorization: `Bearer ${sandbox.credential.apiKey}` },
	});
	statuses.push(response.status);
	return {
		status: response.status,
		headers: { ...Object.fromEntries(response.headers), date: new Date(time).toUTCString() },
		text: await response.text(),
	};
};

beforeEach(() => {
	statuses.length = 0;
	// A window of its own for each test.
	time += 120_000;
});

const sender = () => createSender({ transport, address: sandbox.url, clock });
const read = { method: 'GET', path: '/v1/contacts', query: { limit: 1 } } as const;

test('an execution uses the current window, waits for the next, and is never refused', async () => {
	const send = sender();
	const begun = time;
	for (let i = 0; i < 3 * perMinute; i++) expect((await send(read)).ok).toBe(true);
	expect(new Set(statuses)).toEqual(new Set([200]));
	// Three windows: the node waits for two resets, and no longer.
	expect(time - begun).toBeLessThanOrEqual(2 * 60_000 + 2_000);
});

test('executions that share a plan lose nothing, though each knows only its own responses', async () => {
	const senders = [sender(), sender(), sender()];
	const outcomes = [];
	for (let i = 0; i < perMinute; i++) {
		for (const send of senders) outcomes.push(await send(read));
	}
	expect(outcomes.every(({ ok }) => ok)).toBe(true);
	// Each sender is refused at most once per window before it learns of the limit.
	expect(statuses.filter((status) => status === 429).length).toBeLessThanOrEqual(3 * 3);
});

test('of simultaneous requests, no more are refused than are in flight', async () => {
	const send = sender();
	const atOnce = 4;
	const lane = async () => {
		for (let i = 0; i < perMinute; i++) expect((await send(read)).ok).toBe(true);
	};
	await Promise.all(Array.from({ length: atOnce }, lane));
	expect(statuses.filter((status) => status === 429).length).toBeLessThanOrEqual(atOnce);
});
