import { randomUUID } from 'node:crypto';
import { type Move, type ScriptedModel, startModel, type Turn } from '../../../demo/scripted-model.ts';
import { ofModel, sandboxCredential, theN8n } from '../harness/access.ts';
import { addBelowAgent, beginWithAgent, closeNode, say } from '../harness/agent-canvas.ts';
import { inBrowser, useEditor } from '../harness/browser.ts';
import { callSandbox, createRecord } from '../harness/sandbox-calls.ts';
import { tokenIn } from '../harness/tool-answers.ts';

/** The last answer of a tool that the model has read. */
const answerIn = ({ messages }: Turn): string => String(messages.findLast(({ role }) => role === 'tool')?.content);

const repeat = (turn: Turn, part: RegExp): Move => ({ say: part.exec(answerIn(turn))?.[0] ?? 'Nothing is found.' });

inBrowser.describe('From an empty canvas, in a browser,', () => {
	const editor = useEditor();
	let model: ScriptedModel | undefined;

	afterAll(async () => await model?.close());

	test('an assistant is built that finds a deal, shows a change, and makes it once the user agrees', async () => {
		const title = `Fleet telematics ${randomUUID()}`;
		const { id } = await createRecord('/v1/deals', { title, amount: 1200 });
		const amount = async () => (await callSandbox('GET', `/v1/deals/${id}`)).body['amount'];
		const change = { kind: 'deal', action: 'update', record: title, values: { amount: 12_000 } };
		let token = '';
		model = await startModel([
			() => ({ tool: 'crm_search', input: { kind: 'deal', query: title } }),
			(turn) => repeat(turn, /dea_\w+/),
			() => ({ tool: 'crm_change', input: change }),
			(turn) => {
				token = tokenIn(answerIn(turn));
				return repeat(turn, /preview.*Amount: 1,200 → 12,000/);
			},
			() => ({ tool: 'crm_change', input: { ...change, token } }),
			(turn) => repeat(turn, /done.*Amount: 1,200 → 12,000/),
		]);
		const { openAiApi } = await ofModel(model);
		const credential = sandboxCredential();
		await theN8n().createCredential(credential);

		await beginWithAgent(editor);
		await addBelowAgent(editor, 'ai_languageModel', 'OpenAI Chat Model');
		await editor.chooseCredential(openAiApi.name);
		// The scripted model supports what most OpenAI-compatible servers do.
		await editor.parameter('responsesApiEnabled').locator('.el-switch').click();
		await closeNode(editor);
		const seen = async () => await editor.picture('tools');
		await addBelowAgent(editor, 'ai_tool', 'CRM Platform AI Toolkit', { search: 'CRM Platform', seen });
		await editor.chooseCredential(credential.name);
		await editor.choose('writes', 'Update');
		expect(await editor.complaints()).toEqual([]);
		await closeNode(editor);

		await say(editor, 'Which deal is it?', id);
		await say(editor, 'Make it 12,000.', 'preview');
		expect(await amount()).toBe(1200);
		await say(editor, 'Yes.', 'done');
		expect(await amount()).toBe(12_000);
	});
});
