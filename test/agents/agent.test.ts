import { randomUUID } from 'node:crypto';

import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { originOfKey } from '../../nodes/CrmPlatform/api/http/idempotency';
import { agentWith } from '../support/agent-execution.ts';
import { byId, create, getMany, mapped, on } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();

const found = async (name: string) => (await sandbox.read(`contacts?q=${name}`)).total;

const anyName = () => `tool-${randomUUID()}`;

test('a change that is made, undone and made again is carried out again', async () => {
	const { body } = await sandbox.call('POST', '/v1/contacts', { last_name: 'Back' });
	const rename = agentWith({
		credential: sandbox.credential,
		parameters: on('contact', 'update', body.id, {
			fields: { mappingMode: 'defineBelow', value: { last_name: "={{ $fromAI('Name') }}" } },
		}),
	})();
	for (const name of ['Forth', 'Back', 'Forth']) await rename({ Name: name });
	const contact = await sandbox.read(`contacts/${String(body.id)}`);
	expect(contact).toMatchObject({ last_name: 'Forth', version: 4 });
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
	const added = async (values: IDataObject = {}) => await sandbox.create('contacts', { last_name: anyName(), ...values });
	const read = async ({ id }: IDataObject) => await sandbox.read(`contacts/${String(id)}`);
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
		await expect(tool(parameters)({ Owner: '' })).resolves.toEqual({ note: 'Nothing was found: no record matches.' });
	});
});
