import { randomUUID } from 'node:crypto';
import type { IConnections, INode } from 'n8n-workflow';
import { type Move, type ScriptedModel, startModel } from '../../../demo/scripted-model.ts';
import { connectionTo, workflowNode as node } from '../../../demo/workflow-node.ts';
import { newBrowser } from '../../sandbox/harness/scripted-browser.ts';
import { fillIn } from '../../sandbox/harness/console.ts';
import { startLocalServer } from '../../support/local-server.ts';
import { until } from '../../support/until.ts';
import { ofModel, ofSandbox, theN8n, theWorld } from '../harness/access.ts';
import { byId } from '../../support/parameters.ts';
import { launchBrowser, openPage, writePicture } from '../harness/browser.ts';
import { itemsOf, triggerName } from '../harness/run-n8n-node.ts';
import { callSandbox, createRecord } from '../harness/sandbox-calls.ts';
import { signInToPages } from '../harness/sign-in.ts';

const langchain = '@n8n/n8n-nodes-langchain';
const ours = 'n8n-nodes-crm-platform';

const taskAsking = async (message: string) =>
	await until(async () => (await callSandbox('GET', `/v1/tasks?${new URLSearchParams({ 'description[contains]': message })}`)).body.data[0]);

/** Completes a task in the pages of the service. */
async function completeAsPerson(id: string): Promise<void> {
	const browser = newBrowser((path, init) => fetch(new URL(path, theWorld().sandboxUrl), init));
	await browser.signIn('admin');
	await fillIn(browser, `/records/tasks/${id}/edit`, `/records/tasks/${id}`, { status: 'completed' });
}

/** The task as its approver sees it. */
async function takePicture(id: string): Promise<void> {
	const browser = await launchBrowser();
	const page = await openPage(browser, { viewport: { width: 1200, height: 800 } });
	await signInToPages(page, theWorld().sandboxUrl);
	await page.goto(`${theWorld().sandboxUrl}/records/tasks/${id}`);
	await writePicture('approval', await page.screenshot());
	await browser.close();
}

const start = async (name: string, nodes: INode[], connections: IConnections) => {
	const n8n = theN8n();
	const id = await n8n.createWorkflow({
		name: `${name} ${randomUUID()}`,
		settings: { executionOrder: 'v1' },
		nodes: [node(triggerName, 'n8n-nodes-base.manualTrigger', 1, {}), ...nodes],
		connections,
	});
	return await n8n.startWorkflow(id, triggerName);
};

const approver = async () => (await callSandbox('GET', '/v1/users?role=admin&status=active')).body.data[0]!.id;

test('a workflow waits for a task and continues once a person has completed it', async () => {
	const message = `Discount ${randomUUID()}`;
	const parameters = { resource: 'task', operation: 'sendAndWait', message, approverId: byId(await approver()) };
	const execution = await start('Approval', [node('Ask', `${ours}.crmPlatform`, 1, parameters, { credentials: await ofSandbox() })], {
		[triggerName]: connectionTo('Ask'),
	});
	const task = await taskAsking(message);
	const link = /open (http\S+)/.exec(String(task['description']))![1]!;
	const page = await until(async () => {
		const text = await (await fetch(link)).text();
		return text.includes('decided yet') ? text : undefined;
	});
	expect(page).toContain('Nothing is decided yet');
	await completeAsPerson(task.id);
	const { status, data } = await theN8n().waitForExecution(execution);
	expect(status).toBe('success');
	expect(itemsOf(data, 'Ask')[0]!.json).toMatchObject({ data: { approved: true, taskId: task.id } });
	expect(await (await fetch(link)).text()).toContain('No action required');
});

test('a workflow continues once, however many calls and visits of the link arrive at the same moment', async () => {
	const seen: string[] = [];
	const sink = await startLocalServer((request, response) => {
		seen.push(request.url ?? '');
		response.end('{}');
	});
	const message = `Once ${randomUUID()}`;
	const parameters = { resource: 'task', operation: 'sendAndWait', message, approverId: byId(await approver()) };
	const nodes = [
		node('Ask', `${ours}.crmPlatform`, 1, parameters, { credentials: await ofSandbox() }),
		node('After', 'n8n-nodes-base.httpRequest', 4.2, { url: `${sink.url}/went-on` }),
	];
	const execution = await start('Once', nodes, { [triggerName]: connectionTo('Ask'), Ask: connectionTo('After') });
	const task = await taskAsking(message);
	const link = /open (http\S+)/.exec(String(task['description']))![1]!;
	await until(async () => (await (await fetch(link)).text()).includes('decided yet') || undefined);
	await completeAsPerson(task.id);
	await Promise.all(Array.from({ length: 20 }, async () => await (await fetch(link)).text()));
	expect((await theN8n().waitForExecution(execution)).status).toBe('success');
	await Promise.all(Array.from({ length: 5 }, async () => await (await fetch(link)).text()));
	expect(seen).toEqual(['/went-on']);
	await sink.close();
});

/** Starts an agent whose model makes one move, and whose tool calls a person reviews. */
async function startReviewedAgent(message: string, move: Move, review: object = {}): Promise<{ execution: string; model: ScriptedModel }> {
	const model = await startModel([() => move, () => ({ say: 'Done.' })]);
	const credentials = await ofSandbox();
	const execution = await start(
		'Reviewed agent',
		[
			node('Agent', `${langchain}.agent`, 3.1, { promptType: 'define', text: 'Do it.' }),
			node('Model', `${langchain}.lmChatOpenAi`, 1.2, { model: byId('scripted') }, { credentials: await ofModel(model) }),
			node('Review', `${ours}.crmPlatformHitlTool`, 1, { resource: 'task', operation: 'sendAndWait', message, ...review }, { credentials }),
			node('CRM', `${ours}.crmPlatformTools`, 1, { writes: ['update'], previewBeforeWriting: false, tools: ['change'] }, { credentials }),
		],
		{
			[triggerName]: connectionTo('Agent'),
			Model: connectionTo('Agent', 'ai_languageModel'),
			Review: connectionTo('Agent', 'ai_tool'),
			CRM: connectionTo('Review', 'ai_tool'),
		},
	);
	return { execution, model };
}

const changeOf = (record: string, amount: number) => ({ kind: 'deal', action: 'update', record, values: { amount } });

test('a tool of an agent is called once a person has completed the task, whatever the model says about an approval', async () => {
	const title = 'Forklifts for the new hall';
	const { id } = await createRecord('/v1/deals', { title, amount: 1200, owner_id: await approver() });
	const call = { tool: 'crm_change', input: { toolParameters: changeOf(id, 12_000), hitlParameters: {}, approved: true } };
	const message = 'The customer now needs ten of them.';
	const { execution, model } = await startReviewedAgent(message, call, {
		aboutKind: '={{ $tool.parameters.kind }}', aboutRecord: '={{ $tool.parameters.record }}',
	});
	const task = await taskAsking(message);
	expect(task).toMatchObject({ links: [{ resource: 'deals', id }] });
	expect(String(task['description'])).toContain(`Update deal “${title}” (${id}): Amount: 1,200 → 12,000.`);
	expect((await callSandbox('GET', `/v1/deals/${id}`)).body).toMatchObject({ amount: 1200 });
	if (theWorld().chromium) await takePicture(task.id);
	await completeAsPerson(task.id);
	const { status, data: ran } = await theN8n().waitForExecution(execution);
	expect({ status, error: ran.resultData.error?.message }).toEqual({ status: 'success' });
	expect((await callSandbox('GET', `/v1/deals/${id}`)).body).toMatchObject({ amount: 12_000 });
	expect(JSON.stringify(model.turns.at(-1)!.messages)).toMatch(/1,200 → 12,000/);
	await model.close();
});
