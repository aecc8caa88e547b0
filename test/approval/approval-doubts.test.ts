import type { IDataObject } from 'n8n-workflow';

import { alteredService, redescribe } from '../support/altered-service';
import { useApprovals } from '../support/approval-sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';

shortenWaits();
const { at, call, newest, webhooks, visit, complete, completeByWorkflow, reopen, faults, decided, ask } = useApprovals();
/** The service between the nodes and the sandbox. */
const service = alteredService({ get url() { return at.sandbox.url; }, credential: {} } as never, true);

beforeEach(() => void (at.url = service.credential.baseUrl));
afterEach(() => void jest.restoreAllMocks());

describe('who completed the task, and what its text was at that time', () => {
	test('a task that a workflow or a program with an API key completes is not approved until a person completes it', async () => {
		const execution = await ask();
		const task = await newest();
		await completeByWorkflow(task);
		expect(await visit(task)).toContain('a workflow or a program has completed the task');
		await reopen(task);
		await complete(task, at.sandbox.apiKey);
		expect(await visit(task)).toContain('a workflow or a program has completed the task');
		expect(execution.resumed).toBe(0);
		await reopen(task);
		await complete(task);
		await decided(execution);
		expect(execution.output()).toMatchObject([{ data: { approved: true } }]);
	});

	test.each([500, 403])('while the log responds with %i, a task that a workflow completed counts for nobody', async (status) => {
		const execution = await ask();
		const task = await newest();
		await completeByWorkflow(task);
		await faults({ path: '/v1/events', method: 'GET', status, headers: { 'Retry-After': '0' } });
		expect(await visit(task)).toContain('could not be read');
		expect(execution.resumed).toBe(0);
		await faults();
		expect(await visit(task)).toContain('a workflow or a program has completed the task');
	});

	test('a text that was different when the task was completed is not approved, even if it was restored later', async () => {
		await faults({ path: '/v1/webhooks', method: 'POST', status: 403 });
		const execution = await ask();
		const task = await newest();
		await call('PATCH', `/v1/tasks/${String(task.id)}`, { description: 'Close the window' });
		await complete(task);
		await call('PATCH', `/v1/tasks/${String(task.id)}`, { description: task.description });
		expect(await visit(task)).toContain('was changed after the request');
		expect(execution.output()).toMatchObject([{ data: { approved: false, outcome: 'changed' } }]);
	});

	test('as long as the log does not show who completed the task, later changes by others prove nothing', async () => {
		await faults({ path: '/v1/webhooks', method: 'POST', status: 403 });
		const execution = await ask();
		const task = await newest();
		await complete(task);
		await reopen(task, at.person);
		const { body: former } = await call('GET', '/v1/events?type=task.completed&sort=-sequence');
		await complete(task, at.sandbox.apiKey);
		await call('PATCH', `/v1/tasks/${String(task.id)}`, { priority: 'high' }, at.person);
		for (const log of [former, { data: [], next_cursor: null, total: 0 }]) {
			await faults({ path: '/v1/events', method: 'GET', status: 200, body: log });
			expect(await visit(task)).toContain('does not yet show');
		}
		await faults();
		expect(await visit(task)).toContain('a workflow or a program has completed the task');
		expect(execution.resumed).toBe(0);
	});

	test('a different task in place of the requested one decides nothing', async () => {
		const execution = await ask();
		const task = await newest();
		await complete(task, at.sandbox.apiKey);
		await faults({
			path: `/v1/tasks/${String(task.id)}`, method: 'GET', status: 200, body: { id: 'tsk_other', title: 'Other', status: 'completed' },
		});
		expect(await visit(task)).toContain('could not be read');
		expect(execution.resumed).toBe(0);
	});
});

describe('a service', () => {
	test.each(['without an event log', 'whose log the credential cannot read'])('%s: nobody is asked', async (condition) => {
		if (condition === 'without an event log') {
			redescribe(service, (description) => {
				description.paths = Object.fromEntries(Object.entries(description.paths).filter(([name]) => !name.startsWith('/v1/events')));
			});
		} else await faults({ path: '/v1/events', method: 'GET', status: 403 });
		const before = await newest();
		expect(String((await ask()).error()?.message)).toMatch(/no event log|fault was injected/);
		expect(await newest()).toEqual(before);
	});

	test('that gets a decision before it can call n8n is not waited for', async () => {
		service.alter({
			request: async ({ method, url }) => {
				if (method === 'POST' && url.pathname === '/v1/webhooks') await complete(await newest());
				return undefined;
			},
		});
		const execution = await ask();
		expect(execution.output()).toMatchObject([{ data: { approved: true, respondedBy: { id: at.user.id } } }]);
		expect(await webhooks()).toEqual([]);
	});

	test('if webhooks cannot be limited to one task, the approver opens the link', async () => {
		redescribe(service, (description) => {
			Object.assign(description, JSON.parse(JSON.stringify(description).replaceAll('"filter":', '"other":')));
		});
		await ask();
		const task = await newest();
		expect(await webhooks()).toEqual([]);
		await complete(task);
		expect(await visit(task)).toContain('Approved');
	});
});

describe('the approver', () => {
	test('is the owner of the record, even if the credential has no permission to read users', async () => {
		await faults({ path: `/v1/users/${String(at.user.id)}`, method: 'GET', status: 403 });
		const before = await newest();
		expect((await ask()).error()).toBeUndefined();
		const task = await newest();
		expect(task.id).not.toBe(before.id);
		expect(task).toMatchObject({ assignee_id: at.user.id });
	});

	test('is named by an ID of the type that the CRM gives it', async () => {
		let sent: IDataObject = {};
		service.alter({
			answer: (text, { url }) => (url.pathname.startsWith('/v1/users/') ? JSON.stringify({ id: 12, status: 'active' }) : text),
			request: ({ method, url, text }) => {
				if (method !== 'POST' || url.pathname !== '/v1/tasks') return undefined;
				sent = JSON.parse(text) as IDataObject;
				return { status: 422, body: '{}' };
			},
		});
		await ask();
		expect(sent).toMatchObject({ assignee_id: 12, owner_id: 12 });
	});

	test('is not asked while n8n cannot read whether they are active', async () => {
		const before = await newest();
		await faults({ path: `/v1/users/${String(at.user.id)}`, method: 'GET', status: 503, headers: { 'Retry-After': '0' } });
		expect((await ask()).error()).toBeDefined();
		expect(await newest()).toEqual(before);
		expect(await webhooks()).toEqual([]);
	});

	test('has the full time if a retry after the first deadline asks them', async () => {
		const day = 24 * 3_600_000;
		const { now } = Date;
		let passed = 0;
		jest.spyOn(Date, 'now').mockImplementation(() => now() + passed);
		service.alter({
			request: ({ method, url }) => {
				if (method !== 'POST' || url.pathname !== '/v1/tasks' || passed > 0) return undefined;
				passed = 30 * day;
				return { status: 501, body: '{}' };
			},
		});
		await ask({}, { retryOnFail: true });
		const task = await newest();
		expect(passed).toBeGreaterThan(0);
		expect(Date.parse(String(task.due_at)) - Date.now()).toBeGreaterThan(0.9 * day);
		expect(await visit(task)).toContain('Nothing is decided yet');
	});
});
