import { randomUUID } from 'node:crypto';
import type { INode } from 'n8n-workflow';
import { sandboxCredential, theN8n, theWorld } from '../e2e/harness/access.ts';
import { createRecord } from '../e2e/harness/sandbox.ts';
import { eventsOf } from '../e2e/harness/trigger.ts';
import { describeInQueueMode, doneByWorkers } from './harness/access.ts';

/** Far enough ahead that the workflow is active by then. */
const SECONDS_AHEAD = 8;

describeInQueueMode('In queue mode', () => {
	/** How often the log of events has been asked for its end, with which each poll begins. */
	const polls = async () => {
		const response = await fetch(`${theWorld().sandboxUrl}/_sandbox/requests`);
		const requests = (await response.json()) as Array<{ path: string; query: string }>;
		return requests.filter(({ path, query }) => path === '/v1/events' && /limit=1(&|$)/.test(query))
			.length;
	};

	test('one process polls, and a worker does what follows', async () => {
		const n8n = theN8n();
		const credentialId = await n8n.createCredential(sandboxCredential());
		const second = (new Date().getSeconds() + SECONDS_AHEAD) % 60;
		const trigger: INode = {
			id: randomUUID(),
			name: 'Trigger',
			type: 'n8n-nodes-crm-platform.crmPlatformPollTrigger',
			typeVersion: 1,
			position: [0, 0],
			parameters: {
				events: ['company.created'],
				pollTimes: { item: [{ mode: 'custom', cronExpression: `${second} * * * * *` }] },
			},
			credentials: { crmPlatformApi: { id: credentialId, name: 'Sandbox' } },
		};
		const workflow = { name: `Test ${randomUUID()}`, nodes: [trigger], connections: {} };
		const id = await n8n.createWorkflow(workflow);
		await n8n.activateWorkflow(id);
		const before = await polls();
		const companies = [];
		for (const name of ['First', 'Second']) companies.push(await createRecord('/v1/companies', { name }));

		const events = await eventsOf(n8n, id, 1);

		expect(events).toMatchObject(companies.map((company) => ({ data: { object: company } })));
		expect(await polls()).toBe(before + 1);
		const ids = await n8n.listExecutions(id);
		expect((await doneByWorkers(ids)).flat()).toEqual(ids);
		await n8n.deactivateWorkflow(id);
	});
});
