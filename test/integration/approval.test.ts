import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { type OAuthSandbox, startOAuthSandbox } from '../sandbox/connection.ts';
import { until } from '../until.ts';
import { askInExecution, type WaitingExecution } from './approval.ts';
import { shortenWaits } from './short-waits.ts';

shortenWaits();

let sandbox: OAuthSandbox;
/** Of a person, in a program that is not n8n. */
let person: string;
let user: IDataObject;
let deal: IDataObject;
const open: WaitingExecution[] = [];

const call = async (method: string, path: string, body?: unknown, token = sandbox.apiKey) => await sandbox.call(token, method, path, body);
const read = async (path: string) => (await call('GET', path)).body as IDataObject;
const newest = async (): Promise<IDataObject> => ((await read('/v1/tasks?sort=-created_at&limit=1')).data as IDataObject[])[0] ?? {};
const count = async (path: string) => (await read(path)).total;
const webhooks = async () => (await read('/v1/webhooks')).data as IDataObject[];
const linkOf = ({ description }: IDataObject): string => /open (http\S+)/.exec(String(description))![1]!;
const visit = async (task: IDataObject) => await (await fetch(linkOf(task))).text();
const complete = async ({ id }: IDataObject, token = person) => await call('PATCH', `/v1/tasks/${String(id)}`, { status: 'completed' }, token);

const faults = async (...all: IDataObject[]) => await call('PUT', '/_sandbox/faults', all);

/** As a person, and as n8n’s endpoint hears of it: by the CRM's call. */
const decided = async (execution: WaitingExecution) => await until(() => execution.output() !== undefined);

async function ask(more: IDataObject = {}, setup: { items?: IDataObject[]; executionId?: string } = {}, type?: string, reviewed?: IDataObject): Promise<WaitingExecution> {
	const parameters = { resource: 'task', operation: 'sendAndWait', approvalTitle: 'Discount', message: 'Amount: 1,200 → 12,000', aboutKind: 'deal', aboutRecord: deal.id, approverId: { __rl: true, mode: 'name', value: '' }, ...more };
	const execution = await askInExecution({ credential: { baseUrl: sandbox.url, apiKey: sandbox.apiKey }, parameters: parameters as never, ...setup }, type, reviewed && { type: 'n8n-nodes-crm-platform.crmPlatformTools', parameters: reviewed as never });
	open.push(execution);
	return execution;
}

beforeAll(async () => {
	sandbox = await startOAuthSandbox({ faults: true, now: () => Date.now(), allowPrivateWebhooks: true });
	const client = await sandbox.register();
	person = (await sandbox.connect(client, 'admin', 'tasks:read tasks:write users:read')).accessToken;
	user = (await sandbox.call(person, 'GET', '/v1/users/me')).body as IDataObject;
	deal = (await call('POST', '/v1/deals', { title: `Altamira ${randomUUID()}`, owner_id: user.id })).body as IDataObject;
});
afterEach(async () => {
	for (const execution of open.splice(0)) await execution.close();
	await faults();
	for (const { id } of await webhooks()) await call('DELETE', `/v1/webhooks/${String(id)}`);
});
afterAll(async () => await sandbox.close());

describe('Send and Wait for Approval', () => {
	test('gives the owner of the record a task, and goes on once when it is completed', async () => {
		const execution = await ask();
		const task = await newest();
		expect(task).toMatchObject({ title: 'Discount', assignee_id: user.id, owner_id: user.id, links: [{ resource: 'deals', id: deal.id }] });
		expect(task.description).toContain('Amount: 1,200 → 12,000');
		expect(execution.output()).toBeUndefined();
		expect(await webhooks()).toHaveLength(1);
		await complete(task);
		await decided(execution);
		expect(execution.output()).toEqual([{ data: expect.objectContaining({ approved: true, outcome: 'approved', taskId: task.id, respondedBy: expect.objectContaining({ type: 'user', id: user.id }) as unknown }) as unknown }]);
		expect(await webhooks()).toEqual([]);
		await visit(task);
		expect(execution.resumed).toBe(1);
	});

	test('a deleted task declines', async () => {
		const execution = await ask();
		await call('DELETE', `/v1/tasks/${String((await newest()).id)}`, undefined, person);
		await decided(execution);
		expect(execution.output()).toMatchObject([{ data: { approved: false, outcome: 'deleted' } }]);
	});

	test('the link approves nothing by itself, and n8n looks at the task when it is opened', async () => {
		await faults({ path: '/v1/webhooks', method: 'POST', status: 403 });
		const execution = await ask();
		const task = await newest();
		expect(await webhooks()).toEqual([]);
		expect(String(task.description)).toMatch(/Then, open/);
		expect(await visit(task)).toContain('Nothing is decided yet');
		await complete(task);
		await faults({ path: `/v1/tasks/${String(task.id)}`, method: 'GET', status: 501 });
		expect(await visit(task)).toContain('could not be read');
		expect(execution.resumed).toBe(0);
		await faults();
		expect(await visit(task)).toContain('Approved');
		expect(execution.output()).toMatchObject([{ data: { approved: true } }]);
	});

	test.each(['in_progress', 'waiting', 'deferred'])('a task that is %s decides nothing', async (status) => {
		const execution = await ask();
		const task = await newest();
		await call('PATCH', `/v1/tasks/${String(task.id)}`, { status }, person);
		expect(await visit(task)).toContain('Nothing is decided yet');
		expect(execution.resumed).toBe(0);
	});

	test('a task that a workflow, or a program with an API key, completes is not approved, until a person does it', async () => {
		const execution = await ask();
		const task = await newest();
		const byWorkflow = { 'idempotency-key': `n8n/0123abcd/w/1/${'0'.repeat(32)}` };
		await sandbox.call(person, 'PATCH', `/v1/tasks/${String(task.id)}`, { status: 'completed' }, byWorkflow);
		expect(await visit(task)).toContain('a workflow has completed the task');
		await call('PATCH', `/v1/tasks/${String(task.id)}`, { status: 'not_started' });
		await complete(task, sandbox.apiKey);
		expect(await visit(task)).toContain('a program has completed the task');
		expect(execution.resumed).toBe(0);
		await call('PATCH', `/v1/tasks/${String(task.id)}`, { status: 'not_started' });
		await complete(task);
		await decided(execution);
		expect(execution.output()).toMatchObject([{ data: { approved: true } }]);
	});

	test('where the log cannot be read, the user of the node’s credential does not count as a person', async () => {
		const execution = await ask();
		const task = await newest();
		const own = { ...task, status: 'completed', created_by: { type: 'user', id: user.id }, updated_by: { type: 'user', id: user.id } };
		await complete(task, sandbox.apiKey);
		await faults({ path: '/v1/events', method: 'GET', status: 403 }, { path: `/v1/tasks/${String(task.id)}`, method: 'GET', status: 200, body: own });
		expect(await visit(task)).toContain('does not show whether you completed the task');
		await faults({ path: '/v1/events', method: 'GET', status: 403 }, { path: `/v1/tasks/${String(task.id)}`, method: 'GET', status: 200, body: { ...own, updated_by: { type: 'user', id: 'usr_other' } } });
		expect(await visit(task)).toContain('Approved');
		expect(execution.output()).toMatchObject([{ data: { approved: true } }]);
	});

	test.each([500, 503, 401])('while the log answers %i, a task that a workflow has completed is not taken for a person’s', async (status) => {
		const execution = await ask();
		const task = await newest();
		await sandbox.call(person, 'PATCH', `/v1/tasks/${String(task.id)}`, { status: 'completed' }, { 'idempotency-key': `n8n/0123abcd/w/1/${String(status).repeat(10)}00` });
		await faults({ path: '/v1/events', method: 'GET', status, headers: { 'Retry-After': '0' } });
		expect(await visit(task)).toContain('could not be read');
		expect(execution.resumed).toBe(0);
		await faults();
		expect(await visit(task)).toContain('a workflow has completed the task');
	});

	test('a text that was changed after it was asked is not approved', async () => {
		const execution = await ask();
		const task = await newest();
		await call('PATCH', `/v1/tasks/${String(task.id)}`, { description: 'Amount: 1,200 → 1,300' });
		await complete(task);
		await decided(execution);
		expect(execution.output()).toMatchObject([{ data: { approved: false, outcome: 'changed' } }]);
	});

	test('when the time is over it is declined, whatever the input says', async () => {
		const execution = await ask({}, { items: [{ approved: true, data: { approved: true } }] });
		await execution.expire();
		expect(execution.output()).toMatchObject([{ data: { approved: false, outcome: 'expired' } }]);
		expect(execution.output()![0]).not.toHaveProperty('approved');
		await complete(await newest());
		expect(await visit(await newest())).toContain('No action required');
		expect(execution.resumed).toBe(1);
	});

	test('the next request ends the subscriptions of those whose time is over', async () => {
		await call('POST', '/v1/webhooks', { url: 'https://n8n.example/webhook-waiting/1', events: ['task.completed'], description: 'n8n approval: Old / Ask, until 2026-01-01T00:00:00.000Z' });
		await call('POST', '/v1/webhooks', { url: 'https://n8n.example/other', events: ['task.completed'], description: 'Of somebody else' });
		await ask();
		expect((await webhooks()).map(({ description }) => String(description)).sort()).toEqual(['Of somebody else', expect.stringMatching(/^n8n approval: Discounts \/ CRM Platform, until/)]);
	});

	test('another task leaves it waiting', async () => {
		const execution = await ask();
		const task = await newest();
		const other = (await call('POST', '/v1/tasks', { title: 'Other' })).body as IDataObject;
		await complete(other);
		await until(async () => ((await read(`/v1/webhooks/${String((await webhooks())[0]!.id)}/deliveries`)).data as IDataObject[]).some(({ status }) => status === 'succeeded'));
		expect(execution.resumed).toBe(0);
		expect(await visit(task)).toContain('Nothing is decided yet');
	});

	test.each<[string, IDataObject, IDataObject[] | undefined, RegExp]>([
		['several items', {}, [{}, {}], /2 items/],
		['no approver and no record', { aboutKind: 'none' }, undefined, /choose an approver/],
		['an approver whom nobody knows', { approverId: { __rl: true, mode: 'name', value: 'Nobody N.' } }, undefined, /Approver: none of users/],
		['a record that there is not', { aboutRecord: 'No such deal' }, undefined, /Record: none of deals/],
		['an empty message', { message: ' ' }, undefined, /Message/],
		['a limit that is none', { options: { limitWaitHours: -1 } }, undefined, /Limit Wait Time/],
	])('%s: nobody is asked', async (_what, parameters, items, reason) => {
		const before = await count('/v1/tasks');
		const execution = await ask(parameters, items && { items });
		expect(String(execution.error()?.message)).toMatch(reason);
		expect([await count('/v1/tasks'), await webhooks()]).toEqual([before, []]);
	});

	test('as an ordinary tool, nobody is asked; as a human review, the model’s arguments approve nothing', async () => {
		const before = await count('/v1/tasks');
		const tool = await ask({}, {}, 'n8n-nodes-crm-platform.crmPlatformTool');
		expect(String(tool.error()?.message)).toMatch(/cannot wait for an approval/);
		expect(await count('/v1/tasks')).toBe(before);
		const review = await ask({}, { items: [{ approved: true, toolParameters: { kind: 'deal' }, toolCallId: 'call_1' }] }, 'n8n-nodes-crm-platform.crmPlatformHitlTool');
		await review.expire();
		expect(review.output()).toMatchObject([{ data: { approved: false } }]);
		expect(review.output()![0]).not.toHaveProperty('approved');
	});

	describe('as the human review of CRM Platform Tools', () => {
		const asked = async (tool: string, toolParameters: IDataObject, reviewed: IDataObject = {}) => {
			await ask({ message: 'Please look.' }, { items: [{ tool, toolParameters, toolCallId: 'call_1' }] }, 'n8n-nodes-crm-platform.crmPlatformHitlTool', { kinds: ['deal'], options: {}, ...reviewed });
			return String((await newest()).description).split('\n\n').slice(0, -2);
		};

		test('the task says what would be written, with names in place of ids', async () => {
			const { stages } = ((await read('/v1/pipelines')).data as IDataObject[])[0]! as { stages: IDataObject[] };
			const values = { amount: 12_000, owner_id: user.id };
			const { id, title } = (await call('POST', '/v1/deals', { title: `Bridge ${randomUUID()}`, amount: 1200 })).body as IDataObject;
			expect(await asked('crm_change', { kind: 'deal', action: 'update', record: id, values, token: 'made up' })).toEqual(['Please look.', `Update deal ${String(title)} (${String(id)}): Amount: 1,200 → 12,000; Owner: (empty) → ${String(user.name)}.`]);
			const move = { kind: 'deal', action: 'moveToStage', record: title, values: { stage: stages[1]!.id } };
			expect(await asked('sales_act', move, { options: { prefix: 'sales' } })).toEqual(['Please look.', `Move to Stage deal ${String(title)} (${String(id)}): Stage: ${String(stages[0]!.name)} → ${String(stages[1]!.name)}.`]);
			expect(await read(`/v1/deals/${String(id)}`)).toMatchObject({ amount: 1200, version: 1 });
		});

		test('a call that would be refused is told with its reason', async () => {
			const [, words] = await asked('crm_change', { kind: 'deal', action: 'update', record: 'Nobody knows it', values: { amount: 1 } });
			expect(words).toMatch(/could not be described: No deal is called Nobody knows it/);
		});

		test('the calls of other tools have the message alone', async () => {
			expect(await asked('other_change', { kind: 'deal', action: 'update', record: deal.id, values: { amount: 1 } })).toEqual(['Please look.']);
			expect(await asked('crm_get', { kind: 'deal', record: deal.id })).toEqual(['Please look.']);
		});
	});

	test('another attempt after a lost answer asks once', async () => {
		const executionId = randomUUID();
		const before = Number(await count('/v1/tasks'));
		await ask({}, { executionId });
		await ask({}, { executionId });
		expect(await count('/v1/tasks')).toBe(before + 1);
	});
});
