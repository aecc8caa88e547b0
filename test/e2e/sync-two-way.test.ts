import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject, INode } from 'n8n-workflow';

import { readExample } from '../../demo/examples.ts';
import { sandboxCredential, theN8n, theWorld } from './harness/access.ts';

const MANUAL = 'When clicking Execute workflow';
const table = `people_${randomBytes(4).toString('hex')}`;
const domain = `${table}.example`.replace('_', '-');

const crm = async (method: string, path: string, body?: object) => {
	const { sandboxUrl, apiKey } = theWorld();
	const response = await fetch(sandboxUrl + path, {
		method,
		headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
		...(body && { body: JSON.stringify(body) }),
	});
	return (await response.json()) as IDataObject;
};

/** The people of this test in the CRM, by their address. */
const contacts = async () => {
	const { data } = await crm('GET', `/v1/contacts?email[contains]=${domain}&limit=500`);
	return new Map((data as IDataObject[]).map((one) => [String(one.email), one]));
};

/** The changes of contacts that n8n has made: their keys begin with it. */
const writesOfN8n = async () => {
	const { data } = await crm('GET', '/v1/events?limit=500');
	return (data as Array<{ type: string; request: { idempotency_key: string | null } | null }>).filter(
		({ type, request }) => type.startsWith('contact.') && request?.idempotency_key?.startsWith('n8n/'),
	).length;
};

const dataTable = (parameters: IDataObject, more: Partial<INode> = {}): INode =>
	({
		id: 'table',
		name: 'Table',
		type: 'n8n-nodes-base.dataTable',
		typeVersion: 1.1,
		position: [220, 0],
		parameters: { resource: 'row', dataTableId: { __rl: true, mode: 'name', value: table }, ...parameters },
		...more,
	});

/** Does one thing with the table, in a workflow of its own. */
async function inTable(parameters: IDataObject): Promise<IDataObject[]> {
	const n8n = theN8n();
	const start = {
		id: 'start',
		name: MANUAL,
		type: 'n8n-nodes-base.manualTrigger',
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
	} as INode;
	const id = await n8n.createWorkflow({
		name: 'Table',
		nodes: [start, dataTable(parameters)],
		connections: { [MANUAL]: { main: [[{ node: 'Table', type: 'main', index: 0 }]] } },
	});
	const { data } = await n8n.runWorkflow(id, MANUAL);
	return (data.resultData.runData['Table']?.[0]?.data?.['main']?.[0] ?? []).map(({ json }) => json);
}

const rows = async () => {
	const all = await inTable({ operation: 'get', returnAll: true, filters: {} });
	return new Map(all.filter(({ email }) => String(email).endsWith(domain)).map((row) => [String(row.email), row]));
};

const rename = async (email: string, name: string) =>
	await inTable({
		operation: 'update',
		matchType: 'allConditions',
		filters: { conditions: [{ keyName: 'email', condition: 'eq', keyValue: email }] },
		columns: { mappingMode: 'defineBelow', value: { name }, matchingColumns: [], schema: [] },
	});

async function until(isSo: () => Promise<boolean>): Promise<void> {
	while (!(await isSo())) await sleep(200);
}

test('a table and the CRM come to agree on edits of both, without answering each other', async () => {
	const n8n = theN8n();
	const { type, name, data } = sandboxCredential();
	const id = await n8n.createCredential({ type, name, data });
	const example = readExample('sync-two-way.json', { type, id, name });
	const text = JSON.stringify(example).replaceAll('"value":"people"', `"value":"${table}"`).replaceAll('"tableName":"people"', `"tableName":"${table}"`);
	const workflow = JSON.parse(text) as typeof example;
	// The test says when the table is looked at.
	workflow.nodes = workflow.nodes.filter((node) => node.name !== 'Every minute');
	delete workflow.connections['Every minute'];
	const workflowId = await n8n.createWorkflow(workflow);
	await n8n.activateWorkflow(workflowId);
	const fromTable = async () => {
		const { status, data: execution } = await n8n.runWorkflow(workflowId, MANUAL);
		expect(status).toBe('success');
		return execution.resultData.runData['Sync to contacts']?.[0]?.data?.['main'] ?? [];
	};
	await fromTable();

	const people = Array.from({ length: 6 }, (_, i) => `person-${i}@${domain}`);
	const ids = new Map<string, string>();
	for (const email of people) {
		const { id: made } = await crm('POST', '/v1/contacts', { email, last_name: 'New' });
		ids.set(email, String(made));
	}
	await until(async () => (await rows()).size === people.length);
	const before = await writesOfN8n();

	// Three are edited in the table, two in the CRM, and the last one in both.
	for (const email of people.slice(0, 3)) await rename(email, 'By the table');
	for (const email of people.slice(3, 5)) {
		await crm('PATCH', `/v1/contacts/${ids.get(email)}`, { last_name: 'By the CRM' });
	}
	await rename(people[5]!, 'By the table');
	await crm('PATCH', `/v1/contacts/${ids.get(people[5]!)}`, { last_name: 'By the CRM, later' });
	await until(async () => {
		const now = await rows();
		return people.slice(3, 5).every((email) => now.get(email)?.name === 'By the CRM');
	});
	const [created, updated, unchanged, deleted, conflict] = await fromTable();
	expect([created, deleted, conflict].map((items) => items?.length ?? 0)).toEqual([0, 0, 0]);
	expect(updated).toHaveLength(3);
	// The contact was changed later, and the row follows it.
	expect(unchanged?.map(({ json }) => (json.sync as IDataObject).reason)).toEqual([
		expect.stringContaining('The CRM was changed later'),
	]);

	const expected = [
		...people.slice(0, 3).map((email) => [email, 'By the table']),
		...people.slice(3, 5).map((email) => [email, 'By the CRM']),
		[people[5], 'By the CRM, later'],
	];
	const inCrm = await contacts();
	const inRows = await rows();
	expect(people.map((email) => [email, inCrm.get(email)?.last_name])).toEqual(expected);
	expect(people.map((email) => [email, inRows.get(email)?.name])).toEqual(expected);
	expect(people.map((email) => inRows.get(email)?.crm_version)).toEqual(
		people.map((email) => inCrm.get(email)?.version),
	);

	// When it is quiet, nothing happens any more.
	const executions = (await n8n.listExecutions(workflowId)).length;
	expect((await fromTable()).flat()).toEqual([]);
	expect(await writesOfN8n()).toBe(before + 3);
	expect((await n8n.listExecutions(workflowId)).length).toBe(executions + 1);
	await n8n.deactivateWorkflow(workflowId);
});
