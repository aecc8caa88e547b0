import { randomUUID } from 'node:crypto';
import type { INode, IRunExecutionData } from 'n8n-workflow';
import { listExamples, readExample } from '../../demo/examples.ts';
import type { Workflow } from '../../demo/n8n-client.ts';
import { sandboxCredential, theN8n } from './harness/access.ts';
import { type ScriptedModel, startModel } from './harness/model.ts';
import { callSandbox } from './harness/sandbox.ts';

/** The triggers that the editor's button starts. */
const BY_BUTTON = ['manualTrigger', 'scheduleTrigger', 'formTrigger'].map((name) => `n8n-nodes-base.${name}`);
const CHAT = '@n8n/n8n-nodes-langchain.chatTrigger';
const MODEL = '@n8n/n8n-nodes-langchain.lmChatOpenAi';
const OF_THE_CRM = ['crmPlatformTrigger', 'crmPlatformPollTrigger'].map((name) => `n8n-nodes-crm-platform.${name}`);

/** What has to happen in the CRM so that a published example starts. */
const deeds: Record<string, () => Promise<unknown>> = {
	'contact.created': async () => await callSandbox('POST', '/v1/contacts', { last_name: 'Moreno' }),
	async 'deal.won'() {
		const { body } = await callSandbox('POST', '/v1/deals', { title: 'Example', amount: 100 });
		await callSandbox('POST', `/v1/deals/${String(body['id'])}/win`, {});
	},
};

let model: ScriptedModel | undefined;
afterEach(async () => await model?.close());

/** How many items came out of the node that ran last. */
function outputOf({ resultData: { lastNodeExecuted, runData } }: IRunExecutionData): number {
	return runData[lastNodeExecuted ?? '']?.[0]?.data?.['main']?.[0]?.length ?? 0;
}

/** Whether the trigger leaves out what its own workflow writes. */
const ignoresItself = ({ parameters }: INode): boolean =>
	((parameters.filters as { ignore?: string[] } | undefined)?.ignore ?? []).includes('workflow');

/** Gives a chat's workflow what only its user has: a message, and a model. */
async function withModel(workflow: Workflow, { name: chat }: INode): Promise<Workflow> {
	model = await startModel([
		({ tools }) => ({ tool: tools.find(({ name }) => /find/i.test(name))!.name, input: { Search: 'Altamira' } }),
		() => ({ say: 'These are the contacts.' }),
	]);
	const data = { apiKey: 'any', url: model.url };
	const id = await theN8n().createCredential({ name: `Model ${randomUUID()}`, type: 'openAiApi', data });
	const credentials = { openAiApi: { id, name: 'Model' } };
	const nodes = workflow.nodes.map((node) => (node.type === MODEL ? { ...node, credentials } : node));
	const chatInput = 'Which contacts work at Altamira?';
	const message = { json: { sessionId: randomUUID(), action: 'sendMessage', chatInput } };
	return { ...workflow, nodes, pinData: { [chat]: [message] } };
}

test.each(listExamples())('The example %s runs as it is delivered', async (file) => {
	const n8n = theN8n();
	const { type, name, data } = sandboxCredential();
	const id = await n8n.createCredential({ type, name, data });
	const example = readExample(file, { type, id, name });
	const trigger = (types: string[]) => example.nodes.find((node) => types.includes(node.type));
	const chat = trigger([CHAT]);
	const workflowId = await n8n.createWorkflow(chat ? await withModel(example, chat) : example);
	const listening = trigger(OF_THE_CRM);
	if (listening) await n8n.activateWorkflow(workflowId);

	const button = trigger(BY_BUTTON) ?? chat;
	const executions = [];
	if (button) executions.push(await n8n.runWorkflow(workflowId, button.name));
	const isStarted = listening && !(button && ignoresItself(listening));
	if (isStarted) {
		const [event = ''] = listening.parameters['events'] as string[];
		await deeds[event]!();
		executions.push(...(await n8n.executionsOf(workflowId, 1)));
	}
	if (listening) await n8n.deactivateWorkflow(workflowId);

	expect(executions.length).toBeGreaterThan(0);
	for (const { status, data: execution } of executions) {
		expect({ status, error: execution.resultData.error?.message }).toEqual({ status: 'success' });
		expect(outputOf(execution)).toBeGreaterThan(0);
	}
});

test('every example says on the canvas what it does', () => {
	for (const file of listExamples()) {
		const { nodes } = readExample(file, { type: '', id: '', name: '' });
		const notes = nodes.filter(({ type }) => type === 'n8n-nodes-base.stickyNote');
		const text = notes.map(({ parameters }) => String(parameters['content'])).join('\n');
		expect({ file, text }).toEqual({ file, text: expect.stringMatching(/^## .+\n[\s\S]*(Execute workflow|Publish|Chat)/) });
	}
});
