import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import type { Workflow } from '../../../demo/n8n-client.ts';
import { ofModel, ofSandbox, theN8n } from '../harness/access.ts';
import { type ScriptedModel, startModel, type Turn } from '../../../demo/scripted-model.ts';
import { connectionTo, workflowNode as node } from '../../../demo/workflow-node.ts';
import { byId, mapped } from '../../support/parameters.ts';
import { itemsOf, triggerName } from '../harness/run-n8n-node.ts';
import { callSandbox } from '../harness/sandbox-calls.ts';
import { answersIn } from '../harness/tool-answers.ts';

const agentName = 'AI Agent';

describe.each([2.2, 3.1])('In a real n8n, an AI agent of version %s', (version) => {
	const n8n = theN8n();
	let model: ScriptedModel | undefined;

	afterEach(async () => await model?.close());

	test('creates a contact and finds it, with the node as its tools', async () => {
		const email = `${randomUUID()}@example.com`;
		const toolLike = ({ tools }: Turn, word: string) =>
			tools.find(({ name }) => name.toLowerCase().includes(word))!;
		const inputOf = (turn: Turn, word: string, values: IDataObject) => {
			const tool = toolLike(turn, word);
			const names = Object.keys(tool.parameters.properties);
			const input = Object.entries(values).map(([label, value]) => [
				names.find((name) => name.toLowerCase().includes(label))!,
				value,
			]);
			return { tool: tool.name, input: Object.fromEntries(input) as object };
		};
		model = await startModel([
			(turn) => inputOf(turn, 'add', { email, name: 'Lovelace' }),
			(turn) => inputOf(turn, 'find', { email }),
			() => ({ say: 'Done.' }),
		]);

		const id = await n8n.createWorkflow(await workflowWith(model));
		const { status, data } = await n8n.runWorkflow(id, triggerName);

		expect({ status, error: data.resultData.error?.message }).toEqual({ status: 'success' });
		const { body } = await callSandbox('GET', `/v1/contacts?email=${email}`);
		expect(body.data).toMatchObject([{ email, last_name: 'Lovelace' }]);
		const answers = answersIn(model.turns.at(-1)!);
		expect(answers).toHaveLength(2);
		for (const answer of answers) expect(answer).toContain(body.data[0]!.id);
		expect(itemsOf(data, agentName)[0]?.json).toMatchObject({ output: 'Done.' });
	});

	/** Start → AI Agent, with a model, a tool that adds contacts and one that finds them. */
	async function workflowWith(of: ScriptedModel): Promise<Workflow> {
		const credentials = await ofSandbox();
		const langchain = '@n8n/n8n-nodes-langchain';
		const tool = 'n8n-nodes-crm-platform.crmPlatformTool';
		const email = "={{ $fromAI('Email', 'The e-mail address', 'string') }}";
		const fields = mapped({ email, last_name: "={{ $fromAI('Last_Name', 'The family name', 'string') }}" });
		const filters = { rows: [{ field: 'email', operator: 'is', value: email }] };
		const find = { resource: 'contact', operation: 'getMany', returnAll: false, limit: 5, filters };
		const nodes = [
			node(triggerName, 'n8n-nodes-base.manualTrigger', 1, {}),
			node(agentName, `${langchain}.agent`, version, { promptType: 'define', text: 'Add Ada Lovelace, then find her.' }),
			node('Model', `${langchain}.lmChatOpenAi`, 1.2, { model: byId('scripted') }, { credentials: await ofModel(of) }),
			node('Add contacts', tool, 1, { resource: 'contact', operation: 'create', fields }, { credentials }),
			node('Find contacts', tool, 1, find, { credentials }),
		];
		return {
			name: `Agent ${randomUUID()}`,
			// In the execution order of n8n before 1.0, AI Agent 3 continues before its tools have run (n8n 2.41).
			settings: { executionOrder: 'v1' },
			nodes,
			connections: {
				[triggerName]: connectionTo(agentName),
				Model: connectionTo(agentName, 'ai_languageModel'),
				'Add contacts': connectionTo(agentName, 'ai_tool'),
				'Find contacts': connectionTo(agentName, 'ai_tool'),
			},
		};
	}
});
