import { randomUUID } from 'node:crypto';
import type { IDataObject, INode } from 'n8n-workflow';
import { type Move, type ScriptedModel, startModel, type Turn } from '../../../demo/scripted-model.ts';
import { connectionTo, workflowNode as node } from '../../../demo/workflow-node.ts';
import { byId, mapped } from '../../support/parameters.ts';
import { ofModel, ofSandbox, theN8n } from '../harness/access.ts';
import { itemsOf, triggerName } from '../harness/run-n8n-node.ts';
import { callSandbox, createRecord } from '../harness/sandbox-calls.ts';
import { answersIn } from '../harness/tool-answers.ts';

const langchain = '@n8n/n8n-nodes-langchain';
const agentName = 'AI Agent';

describe.each([2.2, 3.1])('In a real n8n, an AI agent of version %s', (version) => {
	let model: ScriptedModel;
	afterEach(async () => await model.close());

	/** Runs an agent with nodes as its tools. @returns its output, and the answers that its model has read */
	async function run(script: Array<(turn: Turn) => Move>, tools: INode[]) {
		model = await startModel(script);
		const n8n = theN8n();
		const id = await n8n.createWorkflow({
			name: `Agent ${randomUUID()}`,
			// In the execution order of n8n before 1.0, AI Agent 3 continues before its tools have run (n8n 2.41).
			settings: { executionOrder: 'v1' },
			nodes: [
				node(triggerName, 'n8n-nodes-base.manualTrigger', 1, {}),
				node(agentName, `${langchain}.agent`, version, { promptType: 'define', text: 'Do it.' }),
				node('Model', `${langchain}.lmChatOpenAi`, 1.2, { model: byId('scripted') }, { credentials: await ofModel(model) }),
				...tools,
			],
			connections: {
				[triggerName]: connectionTo(agentName),
				Model: connectionTo(agentName, 'ai_languageModel'),
				...Object.fromEntries(tools.map(({ name }) => [name, connectionTo(agentName, 'ai_tool')])),
			},
		});
		const { status, data } = await n8n.runWorkflow(id, triggerName);
		expect({ status, error: data.resultData.error?.message }).toEqual({ status: 'success' });
		return { output: itemsOf(data, agentName)[0]?.json, answers: answersIn(model.turns.at(-1)!) };
	}

	test('creates a contact and finds it, with the node as its tools', async () => {
		const email = `${randomUUID()}@example.com`;
		const inputOf = ({ tools }: Turn, word: string, values: IDataObject) => {
			const tool = tools.find(({ name }) => name.toLowerCase().includes(word))!;
			const names = Object.keys(tool.parameters.properties);
			const input = Object.entries(values).map(([label, value]) => [
				names.find((name) => name.toLowerCase().includes(label))!,
				value,
			]);
			return { tool: tool.name, input: Object.fromEntries(input) as object };
		};
		const credentials = await ofSandbox();
		const type = 'n8n-nodes-crm-platform.crmPlatformTool';
		const emailOfModel = "={{ $fromAI('Email', 'The e-mail address', 'string') }}";
		const fields = mapped({ email: emailOfModel, last_name: "={{ $fromAI('Last_Name', 'The family name', 'string') }}" });
		const filters = { rows: [{ field: 'email', operator: 'is', value: emailOfModel }] };
		const find = { resource: 'contact', operation: 'getMany', returnAll: false, limit: 5, filters };
		const { output, answers } = await run(
			[
				(turn) => inputOf(turn, 'add', { email, name: 'Lovelace' }),
				(turn) => inputOf(turn, 'find', { email }),
				() => ({ say: 'Done.' }),
			],
			[
				node('Add contacts', type, 1, { resource: 'contact', operation: 'create', fields }, { credentials }),
				node('Find contacts', type, 1, find, { credentials }),
			],
		);
		const { body } = await callSandbox('GET', `/v1/contacts?email=${email}`);
		expect(body.data).toMatchObject([{ email, last_name: 'Lovelace' }]);
		expect(answers).toHaveLength(2);
		for (const answer of answers) expect(answer).toContain(body.data[0]!.id);
		expect(output).toMatchObject({ output: 'Done.' });
	});

	test('learns the choices and optional fields from CRM Platform AI Toolkit, and finds, changes and moves records by name', async () => {
		const call = (tool: string, input: object): Move => ({ tool: `crm_${tool}`, input });
		const { id } = await createRecord('/v1/deals', { title: `Deal ${randomUUID()}`, amount: 100 });
		const { body: deal } = await callSandbox('GET', `/v1/deals/${id}`);
		const title = String(deal['title']);
		const parameters = { writes: ['create', 'update', 'delete', 'act'], previewBeforeWriting: false };
		const { answers } = await run(
			[
				() => call('search', { kind: 'deal', query: title }),
				() => call('change', { kind: 'deal', action: 'update', record: title, values: { amount: 250 } }),
				() => call('act', { kind: 'deal', action: 'moveToStage', record: id, values: { stage: 'Proposal' } }),
				() => call('search', {}),
				() => ({ say: 'Done.' }),
			],
			[node('CRM', 'n8n-nodes-crm-platform.crmPlatformTools', 1, parameters, { credentials: await ofSandbox() })],
		);
		const offered = model.turns[0]!.tools;
		expect(offered.map(({ name }) => name)).toEqual(['search', 'get', 'describe', 'count', 'change', 'act'].map((name) => `crm_${name}`));
		expect(JSON.stringify(offered[0]!.parameters)).toContain('"enum":["contact"');
		expect((offered[0]!.parameters as { required?: string[] }).required).toEqual(['kind']);
		expect(answers[0]).toContain(id);
		expect(answers[1]).toMatch(/Amount: 100 → 250/);
		expect(answers[2]).toMatch(/→ “Proposal”/);
		expect(answers[3]).toMatch(/kind is missing.*contact, company/);
		const { body: after } = await callSandbox('GET', `/v1/deals/${id}`);
		expect(after).toMatchObject({ amount: 250, version: Number(deal['version']) + 2 });
	});
});
