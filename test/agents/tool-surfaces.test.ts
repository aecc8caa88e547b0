import { randomUUID } from 'node:crypto';

import { ExecuteContext } from 'n8n-core';
import { createRunExecutionData, type IDataObject, type IExecuteFunctions, type INodeParameters } from 'n8n-workflow';

import { originOfKey } from '../../nodes/CrmPlatform/api/http/idempotency';
import { agentReading, agentWith } from '../support/agent-execution.ts';
import { asTool, runEngineAgent } from '../support/engine-agent.ts';
import { sinceN8n } from '../support/n8n-version.ts';
import { workflowIn } from '../support/node-context.ts';
import { parts, type Setup } from '../support/node-runs.ts';
import { byId, create, getMany, mapped, on, update } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();

/** Calls the tool with each of these arguments in turn, in one execution. @returns what the model reads */
type Surface = (setup: Setup, calls: IDataObject[]) => Promise<string[]>;

const calling =
	(parent: string): Surface =>
	async (setup, calls) => {
		const call = agentReading(setup, {}, `@n8n/n8n-nodes-langchain.${parent}`)();
		const answers: string[] = [];
		for (const toolInput of calls) answers.push(await call(toolInput));
		return answers;
	};

const agent3: Surface = async (setup, calls) =>
	await runEngineAgent(setup, (answers) => (answers.length < calls.length ? [calls[answers.length]!] : undefined));

/** n8n's own agents run the node alone, with a new ID each time, outside of any workflow and execution. */
const ownAgents: Surface = async (setup, calls) => {
	const answers: string[] = [];
	for (const call of calls) {
		const { workflow, node, additionalData } = workflowIn({ ...parts, node: asTool(parts.node) }, setup);
		const items = [{ json: call }];
		const toolNode = { ...node, id: randomUUID(), type: `${node.type}Tool` };
		delete (additionalData as { executionId?: string }).executionId;
		Object.assign(workflow, { id: undefined });
		const input = { main: [items] };
		const context = new ExecuteContext(
			workflow,
			toolNode,
			additionalData,
			'internal',
			createRunExecutionData(),
			0,
			items,
			input,
			{ node: toolNode, data: input, source: null },
			[],
		);
		const run = parts.node.execute!.call(context as unknown as IExecuteFunctions) as Promise<Array<Array<{ json: IDataObject }>>>;
		answers.push(await run.then(([output]) => JSON.stringify(output!.map(({ json }) => json)), (error: Error) => error.message));
	}
	return answers;
};

const surfaces: Array<[string, Surface]> = [
	['AI Agent 2', calling('agent')],
	['MCP Server Trigger', calling('mcpTrigger')],
	['n8n’s own agents', ownAgents],
];

const anyName = () => `tool-${randomUUID()}`;
const found = async (name: string) => (await sandbox.read(`contacts?q=${name}`)).total as number;
const added = async (values: IDataObject = {}) => await sandbox.create('contacts', { last_name: anyName(), ...values });
const read = async ({ id }: IDataObject) => await sandbox.read(`contacts/${String(id)}`);
const loseAnswer = async () => await sandbox.faults({ path: '/v1/contacts', method: 'POST', drop: 'after', times: 1 });
const named = { last_name: "={{ $fromAI('Name', '', 'string') }}" };
const setup = (parameters: Setup['parameters']): Setup => ({ credential: sandbox.credential, parameters });
// The node itself tries nothing again.
const adding = () => setup({ ...create('contact', named), options: { maxWait: 0 } });

const promises = (surface: Surface) => () => {
	test('a call whose response was lost, repeated in the next execution, writes once', async () => {
		const name = anyName();
		await loseAnswer();
		expect(await surface(adding(), [{ Name: name }])).toEqual([expect.stringContaining('may have been processed')]);
		const [repeated] = await surface(adding(), [{ Name: name }]);
		expect(repeated).toContain(name);
		expect(await found(name)).toBe(1);
	});

	test('a call that repeats a successful one is a new write', async () => {
		const name = anyName();
		await surface(adding(), [{ Name: name }, { Name: name }]);
		expect(await found(name)).toBe(2);
	});

	test('the message of an error has the CRM’s words about each field', async () => {
		const fields = mapped({ email: "={{ $fromAI('Email') }}", last_name: "={{ $fromAI('Name') }}" });
		const [answer] = await surface(setup({ ...create('contact', fields) }), [{ Email: 'nobody', Name: 'x'.repeat(2_000) }]);
		expect(answer).toMatch(/last_name: .*email: /s);
	});
};

// How an answer is made does not depend on who reads it.
describe('The answer to a call', () => {
	const surface = calling('mcpTrigger');

	test('a field that does not exist is refused with the existing fields', async () => {
		const name = anyName();
		const parameters = { ...create('contact', {}), fieldsMode: 'json', fieldsJson: "={{ $fromAI('Body', '', 'json') }}" };
		const [answer] = await surface(setup(parameters), [{ Body: { last_name: name, colour: 'red' } }]);
		expect(answer).toMatch(/no field colour, so nothing was sent.*last_name.*lifecycle_stage/s);
		expect(await found(name)).toBe(0);
	});

	test('what is empty in a model’s JSON clears nothing, and null clears', async () => {
		const values = { last_name: anyName(), email: `${anyName()}@x.example`, phone: '+15550100', address: { city: 'Lyon', country: 'FR' } };
		const { body: { id } } = await sandbox.call('POST', '/v1/contacts', values);
		const fieldsJson = "={{ { ...$fromAI('Body', '', 'json') } }}";
		const parameters = { ...update('contact', String(id), {}), fieldsMode: 'json', fieldsJson };
		const filled = { email: '', phone: null, job_title: ' ', address: { city: '', country: ' ' }, last_name: 'New' };
		await surface(setup(parameters), [{ Body: filled }]);
		expect(await sandbox.read(`contacts/${id}`)).toMatchObject({ ...values, last_name: 'New', phone: null });
		const [nothing] = await surface(setup(parameters), [{ Body: { email: '' } }]);
		expect(nothing).toContain('To clear a field, send null');
	});

	test('a list whose only filter is empty says that no filter was applied', async () => {
		const parameters = getMany('contact', { returnAll: false, limit: 1 }, { email: "={{ $fromAI('Email') }}" });
		const [answer] = await surface(setup(parameters), [{ Email: '' }]);
		expect(answer).toMatch(/no filter was applied/);
	});
});

describe.each(surfaces)('As a tool of %s', (_name, surface) => promises(surface)());

// In n8n 2.20, an error of a tool ends the workflow.
sinceN8n('2.41', () => {
	describe('As a tool of AI Agent 3', promises(agent3));

	describe('AI Agent 3 lays the arguments over its input item, so', () => {
		const call = async (parameters: Setup['parameters'], calls: IDataObject[], items: IDataObject[]) =>
			await runEngineAgent(setup(parameters), (answers) => (answers.length === 0 ? calls : undefined), {}, items);

		test('an argument with the name of a field that the workflow fixes is refused', async () => {
			const [mine, other] = [await added(), await added()];
			const fields = mapped({ external_id: "={{ $fromAI('id') }}" });
			for (const id of ['={{ $json.id }}', "={{ $json['id'] }}", '={{ $input.item.json.id }}']) {
				const [answer] = await call(on('contact', 'update', id, { fields }), [{ id: other.id }], [{ id: mine.id }]);
				expect(answer).toMatch(/argument id would replace a value of the workflow/);
			}
			expect([await read(mine), await read(other)]).toMatchObject([{ version: 1 }, { version: 1 }]);
		});

		test('an argument that the tool does not have is refused, and the message names the tool’s arguments', async () => {
			const [mine, other] = [await added(), await added()];
			const fields = mapped({ last_name: "={{ $fromAI('Name') }}" });
			const update = on('contact', 'update', '={{ $json.id }}', { fields });
			const [answer] = await call(update, [{ Name: 'Other', id: other.id }], [{ id: mine.id }]);
			expect(answer).toMatch(/no argument id, so nothing was done.*these only: Name/s);
			expect([await read(mine), await read(other)]).toMatchObject([{ version: 1 }, { version: 1 }]);
		});

		test('a value that the workflow fixes comes from the item, and an unknown empty argument is ignored', async () => {
			const mine = await added();
			const fields = mapped({ job_title: '={{ $json.title }}', last_name: "={{ $fromAI('Name') }}" });
			const update = on('contact', 'update', '={{ $json.id }}', { fields });
			await call(update, [{ Name: 'King', input: '' }], [{ id: mine.id, title: 'Countess' }]);
			expect(await read(mine)).toMatchObject({ last_name: 'King', job_title: 'Countess' });
		});

		test('simultaneous calls, also of several items, use their own values', async () => {
			const names = [anyName(), anyName(), anyName()];
			const answers = await call(create('contact', named), names.map((Name) => ({ Name })), [{ a: 1 }, { a: 2 }, { a: 3 }]);
			expect(answers).toHaveLength(3);
			for (const name of names) expect(await found(name)).toBe(1);
		});

		test('Retry On Fail writes once', async () => {
			const name = anyName();
			await loseAnswer();
			const retry = { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 };
			const [answer] = await runEngineAgent(adding(), (answers) => (answers.length === 0 ? [{ Name: name }] : undefined), retry);
			expect(answer).toContain(name);
			expect(await found(name)).toBe(1);
		});
	});
});

test('a change that is made, undone and made again is carried out again', async () => {
	const contact = await added({ last_name: 'Back' });
	const rename = agentWith({
		credential: sandbox.credential,
		parameters: on('contact', 'update', contact.id, { fields: mapped({ last_name: "={{ $fromAI('Name') }}" }) }),
	})();
	for (const name of ['Forth', 'Back', 'Forth']) await rename({ Name: name });
	expect(await read(contact)).toMatchObject({ last_name: 'Forth', version: 4 });
});

test('a call that n8n gives the values of another call is refused', async () => {
	const [contactName, otherName] = [anyName(), anyName()];
	// An agent that works on several items at once makes their tools before any of them is called.
	const parameters = create('contact', { last_name: "={{ $fromAI('Name', '', 'string') }}" });
	const toolFor = agentWith({ credential: sandbox.credential, parameters });
	const tools = [toolFor(), toolFor()] as const;
	expect(await tools[0]({ Name: contactName })).toMatchObject({ last_name: contactName });
	const refused = expect.stringMatching(/values of another call.*Batch Size to 1/s) as string;
	expect(await tools[1]({ Name: otherName })).toEqual({ error: refused });
	expect([await found(contactName), await found(otherName)]).toEqual([1, 0]);
});

test.each([
	['has refused is repeated in the name of the execution that repeats it', [422], false],
	['may have made, and then refuses, is repeated in the name of the first execution', [500, 422], true],
])('a write that the CRM %s', async (_what, statuses, isRemembered) => {
	const Name = anyName();
	const parameters = { ...create('contact', { last_name: "={{ $fromAI('Name', '', 'string') }}" }), options: { maxWait: 0 } };
	const callIn = async (executionId: string) => await agentWith({ credential: sandbox.credential, parameters, executionId })()({ Name });
	for (const status of statuses) {
		const body = JSON.stringify({ status, code: 'validation_failed' });
		await sandbox.faults({ path: '/v1/contacts', method: 'POST', status, contentType: 'application/problem+json', body });
		expect(await callIn('refused')).toHaveProperty('error');
		await sandbox.clear();
	}
	await callIn('repeated');
	const [event] = await sandbox.list<{ request: { idempotency_key: string } }>('events?type=contact.created&sort=-sequence&limit=1');
	expect(originOfKey(event!.request.idempotency_key)!.execution).toBe(isRemembered ? 'refused' : 'repeated');
});

describe('a value that the workflow fixes for a tool', () => {
	const tool = (parameters: INodeParameters, item: IDataObject = {}) =>
		agentWith({ credential: sandbox.credential, parameters }, item)();
	const updating = (id: unknown, fields: IDataObject) =>
		on('contact', 'update', id, { fields: mapped(fields) });

	test('comes from the agent’s item, whatever the model calls its own values', async () => {
		const [mine, other] = [await added(), await added()];
		const fields = { job_title: '={{ $json.title }}', external_id: "={{ $fromAI('id') }}" };
		const change = tool(updating('={{ $json.id }}', fields), { id: mine.id, title: 'Countess' });
		await change({ id: other.id });
		expect(await read(mine)).toMatchObject({ job_title: 'Countess', external_id: other.id });
		expect(await read(other)).toMatchObject({ version: 1 });
	});

	test('filters a list by the agent’s item', async () => {
		const { email } = await added({ email: `${anyName()}@tool.example` });
		const find = tool(getMany('contact', {}, { email: '={{ $json.mail }}' }), { mail: email });
		expect(await find({ Why: 'to know' })).toMatchObject({ email });
	});

	test('is used if the model gives nothing, and a field without one stays as it is', async () => {
		const contact = await added({ job_title: 'Countess', phone: '+4930123456' });
		const fields = {
			job_title: "={{ $fromAI('Title') || 'Duchess' }}", phone: "={{ $fromAI('Phone') }}", last_name: "={{ $fromAI('Name') }}",
		};
		await tool(updating(contact.id, fields))({ Name: 'King', Title: '', Phone: '' });
		expect(await read(contact)).toMatchObject({ last_name: 'King', job_title: 'Duchess', phone: '+4930123456' });
	});

	test('filters even if the model names no record', async () => {
		const contact = await added({ external_id: anyName() });
		const parameters = getMany('contact', {}, { external_id: contact.external_id, company_id: 'com_01jz8q4t6v9x2b5n7m3k1h0d4f' });
		const { rows } = parameters.filters as unknown as { rows: INodeParameters[] };
		rows.push({ field: 'owner_id', operator: 'isRecord', record: byId("={{ $fromAI('Owner') }}") });
		await expect(tool(parameters)({ Owner: '' })).resolves.toEqual({
			note: 'Nothing was found: no record matches.\nThe AI agent’s model left these filters empty, so they were not applied: Owner.',
		});
	});
});
