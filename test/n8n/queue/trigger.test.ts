import type { INode } from 'n8n-workflow';
import { inARow } from '../../../demo/workflow-node.ts';
import { sandboxCredential, theN8n } from '../harness/access.ts';
import { baseNode } from '../harness/killable-n8n.ts';
import { callSandbox, createRecord } from '../harness/sandbox-calls.ts';
import { eventsOf, recordOfEvent, triggerWorkflow } from '../harness/trigger-workflow.ts';
import { type Received, type Receiver, startReceiver } from '../../sandbox/harness/receiver.ts';
import { describeInQueueMode, doneByWorkers, theQueue } from './harness/queue-access.ts';

/** More than the workers do at once. */
const eventCount = 12;

/** As in the example Greet new contacts. */
const eachEventOnce = baseNode('removeDuplicates', 2, 'Each event once', {
	operation: 'removeItemsSeenInPreviousExecutions',
	logic: 'removeItemsWithAlreadySeenKeyValues',
	dedupeValue: '={{ $json.id }}',
	options: {},
});

describeInQueueMode('The trigger in queue mode', () => {
	let receiver: Receiver;
	beforeEach(async () => {
		receiver = await startReceiver();
	});
	afterEach(async () => {
		for (const { id } of await subscriptions()) await callSandbox('DELETE', `/v1/webhooks/${id}`);
		await receiver.close();
	});

	const subscriptions = async () => (await callSandbox('GET', '/v1/webhooks')).body.data;
	const happen = async (last_name: string) => await createRecord('/v1/contacts', { last_name });

	async function activated(...following: INode[]): Promise<string> {
		const n8n = theN8n();
		const credentialId = await n8n.createCredential(sandboxCredential());
		const workflow = triggerWorkflow(credentialId, { events: ['contact.created'] });
		const nodes = [...workflow.nodes, ...following];
		const id = await n8n.createWorkflow({ ...workflow, nodes, connections: inARow(nodes) });
		await n8n.activateWorkflow(id);
		return id;
	}

	/** Has the service deliver to the test instead of n8n. @returns the path of n8n's webhook */
	async function redirected(): Promise<string> {
		const [subscription] = await subscriptions();
		await callSandbox('PATCH', `/v1/webhooks/${subscription!.id}`, { url: receiver.url });
		return new URL(String(subscription!['url'])).pathname;
	}

	/** Forwards deliveries to the processes in turn, as a load balancer does. */
	function balance(path: string): void {
		const { webhookUrls } = theQueue();
		receiver.answer = (_request, response) => {
			const { received } = receiver;
			const url = webhookUrls[received.length % webhookUrls.length]!;
			void forward(url + path, received.at(-1)!).then((status) => response.writeHead(status).end());
		};
	}

	/** A delivery that has not reached n8n, for the test to forward. */
	async function intercepted(): Promise<{ path: string; delivery: Received }> {
		const path = await redirected();
		await happen('Moreno');
		await receiver.events(1);
		return { path, delivery: receiver.received[0]! };
	}

	async function forward(to: string, { headers, text }: Received): Promise<number> {
		const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'content-type'];
		const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
		return (await fetch(to, { method: 'POST', body: text, headers: signed })).status;
	}

	test('each event starts the workflow once, on a worker, however deliveries are spread', async () => {
		const n8n = theN8n();
		const id = await activated();
		const [subscription] = await subscriptions();
		expect(subscription!['url']).toMatch(theQueue().webhookUrls[0]!);
		balance(await redirected());
		const names = Array.from({ length: eventCount }, (_, i) => `Moreno ${i}`);
		const items = names.map((last_name) => ({ last_name }));
		await callSandbox('POST', '/v1/contacts/batch/create', { items });

		const events = await eventsOf(n8n, id, eventCount);

		expect(events.map((event) => recordOfEvent(event)['last_name']).sort()).toEqual(names.sort());
		const ids = await n8n.listExecutions(id);
		for (const done of await doneByWorkers(ids)) expect(done).not.toEqual([]);
		await n8n.deactivateWorkflow(id);
		expect(await subscriptions()).toEqual([]);
	});

	test('every process that receives webhooks accepts the genuine ones, and refuses the forged', async () => {
		const n8n = theN8n();
		const id = await activated();
		const { path, delivery } = await intercepted();
		const forged = { ...delivery, text: delivery.text.replace('Moreno', 'Mareno') };
		for (const url of theQueue().webhookUrls) {
			expect(await forward(url + path, forged)).toBe(401);
		}
		for (const url of theQueue().webhookUrls) {
			expect(await forward(url + path, delivery)).toBe(202);
		}
		const events = await eventsOf(n8n, id, 2);
		expect(events.map((event) => recordOfEvent(event)['last_name'])).toEqual(['Moreno', 'Moreno']);
		await n8n.deactivateWorkflow(id);
	});

	test('an event sent twice starts the workflow once in one process, and is dropped by the workflow after two', async () => {
		const n8n = theN8n();
		const id = await activated(eachEventOnce, baseNode('noOp', 1, 'Next', {}));
		const { path, delivery } = await intercepted();
		const [first, second] = theQueue().webhookUrls;

		expect(await forward(first + path, delivery)).toBe(202);
		expect(await forward(first + path, delivery)).toBe(202);
		await n8n.executionsOf(id, 1);
		expect(await forward(second + path, delivery)).toBe(202);

		const executions = await n8n.executionsOf(id, 2);
		expect(executions).toHaveLength(2);
		expect(executions.map(({ status }) => status)).toEqual(['success', 'success']);
		expect(executions.map(({ data }) => 'Next' in data.resultData.runData)).toEqual([true, false]);
		await n8n.deactivateWorkflow(id);
	});
});
