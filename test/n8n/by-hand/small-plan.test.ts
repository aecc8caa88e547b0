import { workflowNode } from '../../../demo/workflow-node.ts';
import { type Sandbox, startSandbox } from '../../../sandbox/serve.ts';
import { pollingWorkflow, startKillableN8n, type KillableN8n } from '../harness/killable-n8n.ts';
import { requestsTo } from '../harness/sandbox-calls.ts';
import { startKillableQueue } from '../queue/harness/killable-queue.ts';
import { until } from '../../support/until.ts';

// Takes several minutes, so it is not part of `npm test`: EXECUTIONS=200 npx jest test/n8n/by-hand/small-plan
const executions = Number(process.env['EXECUTIONS'] ?? 200);
const plan = 300;
const steps = [1, 2, 3];
/** The Poll Trigger starts at most a hundred at once. */
const workflows = ['one', 'other'];

/** Each mode with the refusals per successful request that docs/reference/rate-limits.md states. */
const modes: Array<[string, () => Promise<KillableN8n>, number]> = [
	['In one process', startKillableN8n, 0.02],
	['In queue mode with two workers', startKillableQueue, 0.1],
];

describe.each(modes)('%s', (mode, startMode, maxRefusalsPerWrite) => {
	let n8n: KillableN8n;
	let small: Sandbox;
	beforeAll(async () => {
		n8n = await startMode();
		small = await startSandbox({ contacts: 0, requestsPerMinute: plan, faults: true });
	}, 600_000);
	afterAll(async () => {
		await n8n?.close();
		await small?.close();
	});

	test('many simultaneous executions use up a small plan, are hardly refused, and none fails', async () => {
		const { url: baseUrl, apiKey } = small;
		const data = { baseUrl, apiKey, descriptionUrl: '' };
		const credentialId = await n8n.client.createCredential({ name: 'Small', type: 'crmPlatformApi', data });
		for (const name of workflows) {
			const next = steps.map((step) => {
				const fieldsJson = `={{ { email: $('Trigger').first().json.id + '-${name}-${step}@example.com' } }}`;
				const parameters = { resource: 'contact', operation: 'create', fieldsMode: 'json', fieldsJson };
				const credentials = { crmPlatformApi: { id: credentialId, name: 'Small' } };
				return workflowNode(`Create ${step}`, 'n8n-nodes-crm-platform.crmPlatform', 1, parameters, { credentials });
			});
			const choice = { events: ['contact.created'], doneWhen: 'succeeded', options: { atOnce: 100, attempts: 1 } };
			const id = await n8n.client.createWorkflow(pollingWorkflow(n8n.credentialId, name, choice, next));
			await n8n.client.activateWorkflow(id);
		}
		const begun = Date.now();
		const items = Array.from({ length: executions / workflows.length }, (_, i) => ({ last_name: `Event ${i}` }));
		for (let i = 0; i < items.length; i += 100) await n8n.call('POST', '/v1/contacts/batch/create', { items: items.slice(i, i + 100) });

		const done = () =>
			n8n.rows().filter(({ deduplicationKey, status }) => deduplicationKey !== null && !['new', 'running', 'waiting'].includes(status));
		await until(() => done().length >= executions, 20 * 60_000);
		const minutes = (Date.now() - begun) / 60_000;

		const requests = await requestsTo(baseUrl);
		const refused = requests.filter(({ status }) => status === 429).length;
		const writeCount = requests.filter(({ method, status }) => method === 'POST' && status === 201).length;
		console.log(mode, {
			executions,
			minutes: minutes.toFixed(1),
			written: writeCount,
			refused,
			perRequest: (refused / writeCount).toFixed(3),
			failed: done().filter(({ status }) => status !== 'success').length,
		});
		expect(done().map(({ status }) => status)).toEqual(done().map(() => 'success'));
		expect(writeCount).toBe(executions * steps.length);
		expect(refused / writeCount).toBeLessThanOrEqual(maxRefusalsPerWrite);
		expect(minutes).toBeLessThanOrEqual((executions * steps.length) / plan + 2);
	}, 30 * 60_000);
});
