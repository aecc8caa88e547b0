import type { IDataObject } from 'n8n-workflow';

import { alteredService } from './harness/altered-service';
import { useApprovals } from './harness/approval-sandbox.ts';
import { shortenWaits } from './harness/short-waits.ts';

shortenWaits();
const { at, newest, webhooks, visit, complete, reopen, faults, decided, ask } = useApprovals();
/** The service between the nodes and the sandbox. */
const service = alteredService({ get url() { return at.sandbox.url; }, credential: {} } as never, true);

const removeEventLog = () =>
	service.edit(({ path, body }) => {
		if (path.endsWith('/openapi.json'))
			body.paths = Object.fromEntries(Object.entries(body.paths as IDataObject).filter(([name]) => !name.startsWith('/v1/events')));
	});

beforeEach(() => void (at.url = service.credential.baseUrl));
afterEach(() => void jest.restoreAllMocks());

describe('approval in other services', () => {
	test('without an event log, a completion by a person counts and one by a program does not', async () => {
		removeEventLog();
		const execution = await ask();
		const task = await newest();
		await complete(task, at.sandbox.apiKey);
		expect(await visit(task)).toContain('a program has completed the task');
		expect(execution.resumed).toBe(0);
		await reopen(task);
		await complete(task);
		await decided(execution);
		expect(execution.output()).toMatchObject([{ data: { approved: true, respondedBy: { id: at.user.id } } }]);
		expect(service.passed.filter((request) => request.startsWith('GET /v1/events'))).toEqual([]);
	});

	test('without an event for completed tasks, the CRM calls n8n for every change of the task', async () => {
		service.alter({
			request: ({ url }) =>
				url.searchParams.getAll('type').includes('task.completed') ? { status: 400, body: '{"code":"invalid_parameter"}' } : undefined,
			answer: (text) => text.replaceAll('"task.completed"', '"task.updated"'),
		});
		const execution = await ask();
		expect(await webhooks()).toMatchObject([{ events: ['task.updated', 'task.deleted'] }]);
		await complete(await newest());
		await decided(execution);
		expect(execution.output()).toMatchObject([{ data: { approved: true } }]);
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

	test('is the owner of the record in a service with numeric ids, too', async () => {
		const id = String(at.user.id);
		service.alter({
			request(request) {
				request.url.href = request.url.href.replace('/users/4711', `/users/${id}`);
				request.text = request.text.replaceAll('"4711"', `"${id}"`);
			},
			answer: (text) => text.replaceAll(`"${id}"`, '4711'),
		});
		expect((await ask()).error()).toBeUndefined();
		expect(await newest()).toMatchObject({ assignee_id: id, owner_id: id });
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
