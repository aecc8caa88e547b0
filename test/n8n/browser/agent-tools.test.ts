import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { ofModel, ofSandbox, theN8n } from '../harness/access.ts';
import { type Move, type ScriptedModel, startModel, type Turn } from '../../../demo/scripted-model.ts';
import { connectionTo, workflowNode as node } from '../../../demo/workflow-node.ts';
import { byId } from '../../support/parameters.ts';
import { triggerName } from '../harness/run-n8n-node.ts';
import { callSandbox, createRecord } from '../harness/sandbox-calls.ts';
import { answersIn } from '../harness/tool-answers.ts';

const langchain = '@n8n/n8n-nodes-langchain';
const toolsType = 'n8n-nodes-crm-platform.crmPlatformTools';
const agentName = 'AI Agent';

const writes = { writes: ['create', 'update', 'delete', 'act'] };

const call = (tool: string, input: object): Move => ({ tool: `crm_${tool}`, input });

describe.each([2.2, 3.1])('In a real n8n, CRM Platform AI Toolkit with an AI agent of version %s', (version) => {
	let model: ScriptedModel | undefined;

	afterEach(async () => await model?.close());

	async function run(script: Array<(turn: Turn) => Move>, parameters: IDataObject): Promise<string[]> {
		model = await startModel(script);
		const n8n = theN8n();
		const id = await n8n.createWorkflow({
			name: `Agent ${randomUUID()}`,
			settings: { executionOrder: 'v1' },
			nodes: [
				node(triggerName, 'n8n-nodes-base.manualTrigger', 1, {}),
				node(agentName, `${langchain}.agent`, version, { promptType: 'define', text: 'Do it.' }),
				node('Model', `${langchain}.lmChatOpenAi`, 1.2, { model: byId('scripted') }, { credentials: await ofModel(model) }),
				node('CRM', toolsType, 1, parameters, { credentials: await ofSandbox() }),
			],
			connections: {
				[triggerName]: connectionTo(agentName), Model: connectionTo(agentName, 'ai_languageModel'), CRM: connectionTo(agentName, 'ai_tool'),
			},
		});
		const { status, data: ran } = await n8n.runWorkflow(id, triggerName);
		expect({ status, error: ran.resultData.error?.message }).toEqual({ status: 'success' });
		return answersIn(model.turns.at(-1)!);
	}

	test('the model learns the choices and optional fields, and finds, changes and moves records by name', async () => {
		const { id } = await createRecord('/v1/deals', { title: `Deal ${randomUUID()}`, amount: 100 });
		const { body: deal } = await callSandbox('GET', `/v1/deals/${id}`);
		const title = String(deal['title']);
		const answers = await run(
			[
				() => call('search', { kind: 'deal', query: title }),
				() => call('change', { kind: 'deal', action: 'update', record: title, values: { amount: 250 } }),
				() => call('act', { kind: 'deal', action: 'moveToStage', record: id, values: { stage: 'Proposal' } }),
				() => call('search', {}),
				() => ({ say: 'Done.' }),
			],
			{ ...writes, previewBeforeWriting: false },
		);
		const offered = model!.turns[0]!.tools;
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
