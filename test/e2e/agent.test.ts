import { randomUUID } from 'node:crypto';
import type { IDataObject, INode } from 'n8n-workflow';
import type { Workflow } from '../../demo/n8n-client.ts';
import { ofModel, ofSandbox, theN8n } from './harness/access.ts';
import { type ScriptedModel, startModel, type Turn } from '../../demo/scripted-model.ts';
import { workflowNode as node } from '../../demo/workflow-node.ts';
import { byId, mapped } from '../integration/harness/parameters.ts';
import { filterBy } from './harness/resources.ts';
import { TRIGGER } from './harness/run-node.ts';
import { callSandbox } from './harness/sandbox-calls.ts';

const AGENT = 'AI Agent';

describe.each([2.2, 3.1])('In a real n8n, an AI agent of version %s', (version) => {
	const n8n = theN8n();
	let model: ScriptedModel | undefined;

	afterEach(async () => {
		await callSandbox('PUT', '/_sandbox/faults', []);
		await model?.close();
	});

	test('creates a contact and finds it, with the node as its tools', async () => {
		const email = `${randomUUID()}@example.com`;
		const answers: unknown[] = [];
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
			({ messages }) => {
				answers.push(...messages.filter(({ role }) => role === 'tool').map(({ content }) => content));
				return { say: 'Done.' };
			},
		]);

		const id = await n8n.createWorkflow(await workflowWith(model));
		const { status, data } = await n8n.runWorkflow(id, TRIGGER);

		expect({ status, error: data.resultData.error?.message }).toEqual({ status: 'success' });
		const { body } = await callSandbox('GET', `/v1/contacts?email=${email}`);
		expect(body.data).toMatchObject([{ email, last_name: 'Lovelace' }]);
		expect(answers).toHaveLength(2);
		for (const answer of answers) expect(JSON.stringify(answer)).toContain(body.data[0]!.id);
		const output = data.resultData.runData[AGENT]?.[0]?.data?.['main']?.[0]?.[0]?.json;
		expect(output).toMatchObject({ output: 'Done.' });
	});

	test('learns why a call failed, and writes once when it repeats the call', async () => {
		const name = `tool-${randomUUID()}`;
		const add = ({ tools }: Turn, values: IDataObject) => {
			const { name: tool } = tools.find((candidate) => candidate.name.toLowerCase().includes('add'))!;
			return { tool, input: { Email: '', Last_Name: name, ...values } };
		};
		model = await startModel([
			(turn) => add(turn, { Email: 'nobody' }),
			(turn) => add(turn, {}),
			(turn) => add(turn, {}),
			() => ({ say: 'Done.' }),
		]);
		const id = await n8n.createWorkflow(await workflowWith(model));
		// The first call is refused, and the answer to the second is lost.
		await callSandbox('PUT', '/_sandbox/faults', [{ path: '/v1/contacts', method: 'POST', after: 1, drop: 'after', times: 1 }]);
		const { data } = await n8n.runWorkflow(id, TRIGGER);

		expect(data.resultData.error?.message).toBeUndefined();
		const answers = model.turns.at(-1)!.messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
		expect(answers[0]).toMatch(/email: /i);
		expect(answers[1]).toMatch(/may have been processed/);
		expect(answers[2]).toContain(name);
		expect((await callSandbox('GET', `/v1/contacts?q=${name}`)).body.total).toBe(1);
	});

	/** Start → AI Agent, with a model, a tool that adds contacts and one that finds them. */
	async function workflowWith(of: ScriptedModel): Promise<Workflow> {
		const credentials = await ofSandbox();
		const langchain = '@n8n/n8n-nodes-langchain';
		const tool = 'n8n-nodes-crm-platform.crmPlatformTool';
		const nodes: INode[] = [
			node(TRIGGER, 'n8n-nodes-base.manualTrigger', 1, {}),
			node(AGENT, `${langchain}.agent`, version, {
				promptType: 'define',
				text: 'Add Ada Lovelace, then find her.',
			}),
			node('Model', `${langchain}.lmChatOpenAi`, 1.2, { model: byId('scripted') }, { credentials: await ofModel(of) }),
			node(
				'Add contacts',
				tool,
				1,
				{
					resource: 'contact',
					operation: 'create',
					options: { maxWait: 0 },
					fields: mapped({
						email: "={{ $fromAI('Email', 'The e-mail address', 'string') }}",
						last_name: "={{ $fromAI('Last_Name', 'The family name', 'string') }}",
					}),
				},
				{ credentials },
			),
			node(
				'Find contacts',
				tool,
				1,
				{
					resource: 'contact',
					operation: 'getMany',
					returnAll: false,
					limit: 5,
					filters: filterBy('email', "={{ $fromAI('Email', 'The e-mail address', 'string') }}"),
				},
				{ credentials },
			),
		];
		const to = (type: 'main' | 'ai_languageModel' | 'ai_tool') => ({
			[type]: [[{ node: AGENT, type, index: 0 }]],
		});
		return {
			name: `Agent ${randomUUID()}`,
			// In the order of n8n before 1.0, AI Agent 3 goes on before its tools have run (n8n 2.41).
			settings: { executionOrder: 'v1' },
			nodes,
			connections: {
				[TRIGGER]: to('main'),
				Model: to('ai_languageModel'),
				'Add contacts': to('ai_tool'),
				'Find contacts': to('ai_tool'),
			},
		};
	}
});
