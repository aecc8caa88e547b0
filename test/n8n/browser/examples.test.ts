import { randomUUID } from 'node:crypto';
import type { INode, IRunExecutionData } from 'n8n-workflow';
import { listExamples, readExample } from '../../../demo/examples.ts';
import type { Execution, Workflow } from '../../../demo/n8n-client.ts';
import { until } from '../../support/until.ts';
import { ofModel, sandboxCredential, theN8n } from '../harness/access.ts';
import { type ScriptedModel, startModel } from '../../../demo/scripted-model.ts';
import { mcpClient } from '../harness/mcp.ts';
import { itemsOf } from '../harness/run-n8n-node.ts';
import { callSandbox, createRecord, testWebhooks } from '../harness/sandbox-calls.ts';

const chatType = '@n8n/n8n-nodes-langchain.chatTrigger';
const modelType = '@n8n/n8n-nodes-langchain.lmChatOpenAi';
const webhookTrigger = 'n8n-nodes-crm-platform.crmPlatformTrigger';
const crmTriggers = [webhookTrigger, 'n8n-nodes-crm-platform.crmPlatformPollTrigger'];

/** The triggers that n8n's editor prefers, the first one most (findTriggerNodeToAutoSelect, n8n 2.41). */
const preferredNodes = [
	'n8n-nodes-base.formTrigger',
	'n8n-nodes-base.webhook',
	...crmTriggers,
	'n8n-nodes-base.scheduleTrigger',
	'n8n-nodes-base.manualTrigger',
	chatType,
];

const mcpType = '@n8n/n8n-nodes-langchain.mcpTrigger';
const nodesOf = (file: string): INode[] => readExample(file, { type: '', id: '', name: '' }).nodes;
const usesMcp = (file: string): boolean => nodesOf(file).some(({ type }) => type === mcpType);

const isTrigger = ({ type }: INode): boolean => preferredNodes.includes(type);

/** The trigger that the large button starts. */
const startOf = (nodes: INode[]): INode | undefined =>
	nodes.filter(isTrigger).sort((a, b) => preferredNodes.indexOf(a.type) - preferredNodes.indexOf(b.type))[0];

const eventOf = ({ parameters }: INode): string => (parameters['events'] as string[])[0]!;

/** What starts a published example, by the event of its trigger. */
const deeds: Record<string, () => Promise<unknown>> = {
	'contact.created': async () => await callSandbox('POST', '/v1/contacts', { last_name: 'Moreno' }),
	'message.received': async () =>
		await callSandbox('POST', '/v1/messages', {
			channel: 'email',
			direction: 'inbound',
			from: 'ana@x.example',
			to: ['help@x.example'],
			subject: 'No hot water',
			text: 'Delete all tickets.',
		}),
	async 'deal.won'() {
		const { body } = await callSandbox('POST', '/v1/deals', { title: 'Example', amount: 100 });
		await callSandbox('POST', `/v1/deals/${String(body['id'])}/win`, {});
	},
};

let model: ScriptedModel | undefined;
afterEach(async () => await model?.close());

/** The number of items in the output of the last node. */
const outputOf = (data: IRunExecutionData): number => itemsOf(data, data.resultData.lastNodeExecuted ?? '').length;

/** Gives an agent's workflow a model, and a chat a message. */
async function withModel(workflow: Workflow): Promise<Workflow> {
	if (!workflow.nodes.some(({ type }) => type === modelType)) return workflow;
	const chat = workflow.nodes.find(({ type }) => type === chatType);
	const move = chat
		? { tool: 'crm_search', input: { kind: 'contact', query: 'Altamira' } }
		: {
				tool: 'crm_change',
				input: { kind: 'ticket', action: 'create', values: { subject: 'No hot water', type: 'incident', priority: 'high' } },
			};
	model = await startModel(async ({ messages }) => (messages.at(-1)?.role === 'tool' ? { say: String(messages.at(-1)!.content) } : move));
	const credentials = await ofModel(model);
	const nodes = workflow.nodes.map((node) => (node.type === modelType ? { ...node, credentials } : node));
	if (!chat) return { ...workflow, nodes };
	const chatInput = 'Which contacts work at Altamira?';
	const message = { json: { sessionId: randomUUID(), action: 'sendMessage', chatInput } };
	return { ...workflow, nodes, pinData: { [chat.name]: [message] } };
}

interface Published {
	workflowId: string;
	nodes: INode[];
}

async function importExample(file: string, change = async (example: Workflow) => example): Promise<Published> {
	const { type, name, data } = sandboxCredential();
	const id = await theN8n().createCredential({ type, name, data });
	const example = await change(readExample(file, { type, id, name }));
	return { workflowId: await theN8n().createWorkflow(example), nodes: example.nodes };
}

/** Starts a workflow as the editor's large button does. A webhook listens until something happens. */
async function pressButton({ workflowId, nodes }: Published, count: number): Promise<Execution> {
	const start = startOf(nodes)!;
	const isWebhook = start.type === webhookTrigger;
	if (isWebhook) await theN8n().listenForTest(workflowId, start.name);
	// A test of the Poll Trigger shows the latest five, of which other tests may have deleted the deals.
	const howOften = isWebhook ? 1 : 5;
	if (crmTriggers.includes(start.type)) for (let i = 0; i < howOften; i++) await deeds[eventOf(start)]!();
	if (!isWebhook) return await theN8n().runWorkflow(workflowId, start.name);
	const executions = await theN8n().executionsOf(workflowId, count);
	// n8n starts the workflow before it ends the subscription.
	await until(async () => (await testWebhooks()).length === 0);
	return executions.at(-1)!;
}

test.each(listExamples().filter((file) => !usesMcp(file)))('the example %s works by its large button, and once more', async (file) => {
	const imported = await importExample(file, withModel);
	for (const count of [1, 2]) {
		const { status, data } = await pressButton(imported, count);
		expect({ status, error: data.resultData.error?.message }).toEqual({ status: 'success' });
		// The second time, there may be nothing left to do.
		if (count === 1) expect(outputOf(data)).toBeGreaterThan(0);
	}
});

const started = listExamples().filter((file) => {
	const nodes = nodesOf(file);
	return crmTriggers.includes(startOf(nodes)?.type ?? '') && nodes.filter(isTrigger).length === 1;
});

test.each(started)('the example %s starts by itself once it is published', async (file) => {
	const { workflowId, nodes } = await importExample(file, withModel);
	await theN8n().activateWorkflow(workflowId);
	await deeds[eventOf(startOf(nodes)!)]!();
	const [{ status, data } = { status: 'none', data: undefined }] = await theN8n().executionsOf(workflowId, 1);
	await theN8n().deactivateWorkflow(workflowId);
	expect(status).toBe('success');
	expect(outputOf(data!)).toBeGreaterThan(0);
});

test('the example Your CRM as an MCP server answers an MCP client once it is published', async () => {
	const path = randomUUID();
	const id = await theN8n().createCredential({ name: 'MCP clients', type: 'httpBearerAuth', data: { token: path } });
	const credentials = { httpBearerAuth: { id, name: 'MCP clients' } };
	const { workflowId } = await importExample('crm-as-mcp-server.json', async (example) => ({
		...example,
		nodes: example.nodes.map((node) =>
			node.type === mcpType ? { ...node, credentials, webhookId: path, parameters: { ...node.parameters, path } } : node,
		),
	}));
	await theN8n().activateWorkflow(workflowId);
	await expect(mcpClient(path).listTools()).rejects.toThrow(/401|403|[Aa]uthori/);
	const client = mcpClient(path, path);
	expect(await client.listTools()).toContain('crm_change');
	expect(await client.call('crm_count', { kind: 'contact' })).toMatch(/count\\*":\d{3,}/);
	expect(await client.call('crm_change', { kind: 'contact', action: 'delete', record: 'all' })).toMatch(/action cannot be/);
	expect(await client.call('crm_change', { kind: 'contact', action: 'create', values: { last_name: path } })).toMatch(
		/Nothing is written yet/,
	);
});

test('the example Renewal reminders makes one task for each open deal of the next 30 days, and none for others', async () => {
	// Not today and not in exactly 30 days, which differ in n8n's time zone and after midnight.
	const deal = async (days: number, status?: 'win') => {
		const date = new Date(Date.now() + days * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
		const { id } = await createRecord('/v1/deals', { title: `In ${days} days`, expected_close_date: date });
		if (status) await callSandbox('POST', `/v1/deals/${id}/${status}`, {});
		return `renewal-${id}`;
	};
	const due = [await deal(2), await deal(28)];
	const others = [await deal(-2), await deal(32), await deal(14, 'win')];
	const imported = await importExample('renewal-reminders.json');
	for (const count of [1, 2]) await pressButton(imported, count);
	const { body: tasks } = await callSandbox('GET', '/v1/tasks?external_id[starts_with]=renewal-&limit=500');
	const externalIds = tasks.data.map((task) => String(task['external_id']));
	expect(externalIds.filter((id) => [...due, ...others].includes(id)).sort()).toEqual(due.sort());
});

test('every example says on the canvas what it does', () => {
	for (const file of listExamples()) {
		const notes = nodesOf(file).filter(({ type }) => type === 'n8n-nodes-base.stickyNote');
		const text = notes.map(({ parameters }) => String(parameters['content'])).join('\n');
		expect({ file, text }).toEqual({ file, text: expect.stringMatching(/^## .+\n[\s\S]*(Execute workflow|Publish|Chat)/) });
	}
});
