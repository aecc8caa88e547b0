import type { IAllExecuteFunctions } from 'n8n-workflow';

import { SimulatedClock } from '../../bench/scale/clock.ts';
import type { Priority } from '../../nodes/CrmPlatform/api/http/requestQueue';
import { queueOptionsOf, reportWaits } from '../../nodes/CrmPlatform/api/queueOptions';
import { senderWith } from './queued-requests.ts';

const contextOf = (more: object, type = 'crmPlatform') =>
	({
		getWorkflow: () => ({ id: 'workflow-1' }),
		getExecutionId: () => 'execution-1',
		getNode: () => ({ name: 'CRM', type }),
		isToolExecution: () => false,
		getMode: () => 'trigger',
		getParentNodes: () => [],
		...more,
	}) as unknown as IAllExecuteFunctions;

const getInputData = () => [];
const webhookThat = (responseMode?: string, type = 'n8n-nodes-base.webhook') => ({
	getInputData,
	getMode: () => 'webhook',
	getParentNodes: () => [{ type, parameters: { ...(responseMode && { responseMode }) } }],
});

test.each<[string, string, string, string | undefined, IAllExecuteFunctions]>([
	['an opened form', 'awaited', 'awaited', undefined, contextOf({})],
	['a tool of an agent', 'awaited', 'bulk', 'execution-1', contextOf({ getInputData, isToolExecution: () => true })],
	['a tool of the newest agent', 'awaited', 'bulk', 'execution-1', contextOf({ getInputData }, 'crmPlatformTool')],
	['a manual execution', 'awaited', 'bulk', 'execution-1', contextOf({ getInputData, getMode: () => 'manual' })],
	['a chat', 'awaited', 'bulk', 'execution-1', contextOf({ getInputData, getMode: () => 'chat' })],
	['a published chat', 'awaited', 'bulk', 'execution-1', contextOf(webhookThat(undefined, '@n8n/n8n-nodes-langchain.chatTrigger'))],
	['a webhook that is answered at the end', 'awaited', 'bulk', 'execution-1', contextOf(webhookThat('lastNode'))],
	['a webhook that is answered by a node', 'awaited', 'bulk', 'execution-1', contextOf(webhookThat('responseNode'))],
	['a webhook that is answered at once', 'ordinary', 'bulk', 'execution-1', contextOf(webhookThat('onReceived'))],
	['a delivery to a trigger', 'ordinary', 'bulk', 'execution-1', contextOf(webhookThat())],
	['a schedule', 'ordinary', 'bulk', 'execution-1', contextOf({ getInputData })],
	['a trigger', 'ordinary', 'ordinary', undefined, contextOf({ emit: () => undefined })],
])('requests of %s are %s, and then %s', (_, priority, laterPriority, execution, n8n) => {
	expect(queueOptionsOf(n8n)).toEqual({ workflow: 'workflow-1', execution, priority, laterPriority });
});

test('the hint tells how long the node waited: simultaneous waits count once', async () => {
	const clock = new SimulatedClock();
	const notices = new Set<string>();
	const begin = reportWaits(notices, clock);
	const wait = async (from: number, to: number) => {
		await clock.sleep(from);
		const ended = begin();
		await clock.sleep(to - from);
		ended();
	};
	void wait(0, 4_000);
	await clock.advance(5_000);
	expect([...notices]).toEqual([]);
	void wait(0, 6_000);
	void wait(3_000, 7_000);
	await clock.advance(20_000);
	expect([...notices]).toEqual([expect.stringMatching(/^The node waited 11 s for the CRM: its rate limit /)]);
	// A trigger logs what is new after each round.
	notices.clear();
	void wait(0, 1_000);
	await clock.advance(2_000);
	expect([...notices]).toEqual([]);
});

test.each<[Priority, maxWait: number]>([['awaited', 300_000], ['ordinary', 3_600_000]])(
	'the time in the queue counts towards Maximum Wait: %s requests that cannot be sent within %i ms fail at once',
	async (priority, maxWait) => {
		const clock = new SimulatedClock();
		const begun = clock.now();
		const transport = async () => {
			await clock.sleep(100);
			return { status: 429, headers: { 'retry-after': '60' }, text: '' };
		};
		const sender = senderWith(clock, transport, { queueName: `queued ${priority}`, priority });
		const ends: number[] = [];
		const ask = () => void sender({ method: 'GET', path: '/contacts' }).then(() => ends.push(clock.now() - begun));
		ask();
		await clock.runUntil(begun + 1_000);
		for (let i = 0; i < 3; i += 1) ask();
		await clock.runUntil(begun + 2 * maxWait);
		expect(ends).toHaveLength(4);
		for (const end of ends) expect(end).toBeLessThanOrEqual(maxWait + 10_000);
	},
);

test('runs of nodes in one execution count together: a loop becomes bulk, and leaves room, like one long run', async () => {
	const clock = new SimulatedClock();
	let remaining = 101;
	const sentRequests: string[] = [];
	const sender = (execution: string | undefined) => {
		const headers = () => ({ 'x-ratelimit-remaining': `${(remaining -= 1)}`, 'x-ratelimit-reset': '60' });
		const transport = async () => {
			sentRequests.push(String(execution));
			return ({ status: 200, headers: headers(), text: '{}' });
		};
		return senderWith(clock, transport, { queueName: 'loop', execution, priority: 'awaited', laterPriority: 'bulk', reserve: 0.9 });
	};
	const request = { method: 'GET', path: '/contacts' } as const;
	for (let run = 0; run < 25; run += 1) {
		void sender('a loop')(request);
		await clock.advance(10);
		void sender(undefined)(request);
		await clock.advance(10);
	}
	expect(sentRequests.filter((entry) => entry === 'a loop')).toHaveLength(20);
	expect(sentRequests.filter((entry) => entry === 'undefined')).toHaveLength(25);
});
