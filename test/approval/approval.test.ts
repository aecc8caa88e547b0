import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { until } from '../support/until.ts';
import { usualLimits } from '../../nodes/CrmPlatform/api/http/retry';
import { useApprovals } from '../support/approval-sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';

shortenWaits();
const { at, call, read, newest, count, webhooks, visit, complete, faults, decided, ask } = useApprovals();

describe('Send and Wait for Approval', () => {
	test('gives the owner of the record a task, and continues once when it is completed', async () => {
		const execution = await ask();
		const task = await newest();
		expect(task).toMatchObject({
			title: 'Discount', assignee_id: at.user.id, owner_id: at.user.id, links: [{ resource: 'deals', id: at.deal.id }],
		});
		expect(task.description).toContain('Amount: 1,200 → 12,000');
		expect(execution.output()).toBeUndefined();
		expect(await webhooks()).toHaveLength(1);
		await complete(task);
		await decided(execution);
		const respondedBy = expect.objectContaining({ type: 'user', id: at.user.id }) as unknown;
		const data = expect.objectContaining({ approved: true, outcome: 'approved', taskId: task.id, respondedBy }) as unknown;
		expect(execution.output()).toEqual([{ data }]);
		expect(await webhooks()).toEqual([]);
		await visit(task);
		expect(execution.resumed).toBe(1);
	});

	test.each([403, 410])('opening the link approves nothing; n8n then reads the task', async (status) => {
		await faults({ path: '/v1/webhooks', method: 'POST', status });
		const execution = await ask();
		const task = await newest();
		expect(await webhooks()).toEqual([]);
		expect(String(task.description)).toMatch(/If it does not, open/);
		expect(await visit(task)).toContain('Nothing is decided yet');
		await complete(task);
		await faults({ path: `/v1/tasks/${String(task.id)}`, method: 'GET', status: 501 });
		expect(await visit(task)).toContain('could not be read');
		expect(execution.resumed).toBe(0);
		await faults();
		expect(await visit(task)).toContain('Approved');
		expect(execution.output()).toMatchObject([{ data: { approved: true } }]);
	});

	test('after the time limit it is declined, whatever the input says', async () => {
		const execution = await ask({}, { items: [{ approved: true, data: { approved: true } }] });
		await execution.expire();
		expect(execution.output()).toMatchObject([{ data: { approved: false, outcome: 'expired' } }]);
		expect(execution.output()![0]).not.toHaveProperty('approved');
		await complete(await newest());
		expect(await visit(await newest())).toContain('No action required');
		expect(execution.resumed).toBe(1);
	});

	test('the CRM calls n8n about this task alone, as long as the wait lasts; a task that is not completed decides nothing', async () => {
		const execution = await ask();
		const task = await newest();
		const [webhook] = await webhooks();
		expect(webhook).toMatchObject({ filter: { ids: [task.id] }, events: ['task.completed', 'task.deleted'] });
		expect(Date.parse(String(webhook!.expires_at)) - Date.parse(String(task.due_at))).toBe(5 * 60_000);
		for (const status of ['in_progress', 'waiting', 'deferred']) {
			await call('PATCH', `/v1/tasks/${String(task.id)}`, { status }, at.person);
			expect([await visit(task), execution.resumed]).toEqual([expect.stringContaining('Nothing is decided yet'), 0]);
		}
	});

	test.each([
		[true, 'Approved'],
		[false, 'Too late'],
	])('a task that is completed in time (%s) counts by its own time', async (isInTime, answer) => {
		await faults({ path: '/v1/webhooks', method: 'POST', status: 403 });
		await ask({ options: { limitWaitHours: 0.1 } });
		const task = await newest();
		const { now } = Date;
		const later = jest.spyOn(Date, 'now');
		if (isInTime) await complete(task);
		later.mockImplementation(() => now() + 7 * 60_000);
		if (!isInTime) await complete(task);
		expect(await visit(task)).toContain(answer);
		later.mockRestore();
	});

	test.each<[string, IDataObject, IDataObject[] | undefined, RegExp]>([
		['several items', {}, [{}, {}], /2 items/],
		['no approver and no record', { aboutKind: 'none' }, undefined, /choose an approver/],
		['an unknown approver', { approverId: { __rl: true, mode: 'name', value: 'Nobody N.' } }, undefined, /^Approver: .* any record of users/],
		['a record that does not exist', { aboutRecord: 'No such deal' }, undefined, /Record: .* does not match any record of deals/],
		['an empty message', { message: ' ' }, undefined, /Message/],
		['an invalid limit', { options: { limitWaitHours: -1 } }, undefined, /Limit Wait Time/],
	])('%s: nobody is asked', async (_what, parameters, items, reason) => {
		const before = await count('/v1/tasks');
		const execution = await ask(parameters, items && { items });
		expect(String(execution.error()?.message)).toMatch(reason);
		expect([await count('/v1/tasks'), await webhooks()]).toEqual([before, []]);
	});

	test('as an ordinary tool, it asks nobody; as a human review, the model’s arguments approve nothing', async () => {
		const before = await count('/v1/tasks');
		const tool = await ask({}, {}, 'n8n-nodes-crm-platform.crmPlatformTool');
		expect(String(tool.error()?.message)).toMatch(/cannot wait for an approval/);
		expect(await count('/v1/tasks')).toBe(before);
		const items = [{ approved: true, toolParameters: { kind: 'deal' }, toolCallId: 'call_1' }];
		const review = await ask({}, { items }, 'n8n-nodes-crm-platform.crmPlatformHitlTool');
		await review.expire();
		expect(review.output()).toMatchObject([{ data: { approved: false } }]);
		expect(review.output()![0]).not.toHaveProperty('approved');
	});

	describe('as the human review of CRM Platform AI Toolkit', () => {
		const crmSays = 'According to the CRM, the call would make this change:\n';
		const workflowSays = 'The workflow says:\nPlease look.';
		const review = async (tool: string, toolParameters: IDataObject, reviewed: IDataObject = {}) => {
			const items = [{ tool, toolParameters, toolCallId: 'call_1' }];
			const settings = { kinds: ['deal'], writes: ['create', 'update', 'tag', 'act'], options: {}, ...reviewed };
			return await ask({ message: 'Please look.' }, { items }, 'n8n-nodes-crm-platform.crmPlatformHitlTool', settings);
		};
		const reviewParagraphs = async (...call: Parameters<typeof review>) => {
			await review(...call);
			return String((await newest()).description).split('\n\n').slice(0, -2);
		};

		test('the task shows what would be written, with names instead of ids', async () => {
			const { stages } = ((await read('/v1/pipelines')).data as IDataObject[])[0]! as { stages: IDataObject[] };
			const values = { amount: 12_000, owner_id: at.user.id };
			const { id, title } = (await call('POST', '/v1/deals', { title: `Bridge ${randomUUID()}`, amount: 1200 })).body as IDataObject;
			expect(await reviewParagraphs('crm_change', { kind: 'deal', action: 'update', record: id, values, token: 'made up' })).toEqual([
				`${crmSays}Update deal “${String(title)}” (${String(id)}): Amount: 1,200 → 12,000; Owner: (empty) → “${String(at.user.name)}”.`,
				workflowSays,
			]);
			const move = { kind: 'deal', action: 'moveToStage', record: title, values: { stage: stages[1]!.id } };
			expect(await reviewParagraphs('sales_act', move, { options: { prefix: 'sales' } })).toEqual([
				`${crmSays}Move to Stage deal “${String(title)}” (${String(id)}): Stage: “${String(stages[0]!.name)}” → “${String(stages[1]!.name)}”.`,
				workflowSays,
			]);
			for (const [tool, prefix] of [['crm_act', ' '], ['sales_act', ' sales ']] as const) {
				expect(await reviewParagraphs(tool, move, { options: { prefix } })).toHaveLength(2);
			}
			expect(await read(`/v1/deals/${String(id)}`)).toMatchObject({ amount: 1200, version: 1 });
		});

		test('a call that would be refused is declined immediately, and the model learns the reason', async () => {
			const before = await count('/v1/tasks');
			const reviewUpdate = async (record: unknown, values: IDataObject) =>
				(await review('crm_change', { kind: 'deal', action: 'update', record: record as string, values })).output();
			const refused = { approved: false, outcome: 'refused' };
			const chatInput = expect.stringMatching(/^No approval was requested.*No deal is called Nobody knows it/) as string;
			expect(await reviewUpdate('Nobody knows it', { amount: 1 })).toMatchObject([{ data: { ...refused, chatInput } }]);
			expect(await reviewUpdate(at.deal.id, { description: 'x'.repeat(10_001) })).toMatchObject([{ data: refused }]);
			for (const wrong of [{ source: 'x' }, { title: 'x'.repeat(3_000) }]) {
				expect(await reviewUpdate(at.deal.id, wrong)).toMatchObject([{ data: refused }]);
			}
			const deletion = { kind: 'deal', action: 'delete', record: at.deal.id as string };
			for (const reviewed of [{ writes: ['update'] }, { writes: [] }, { tools: ['search'], writes: ['delete'] }]) {
				expect((await review('crm_change', deletion, reviewed)).output()).toMatchObject([{ data: refused }]);
			}
			expect(await count('/v1/tasks')).toBe(before);
		});

		test('no text can hide or imitate the content to approve', async () => {
			const values = { title: 'Bridge\n\n\nComplete this task to approve\u202e\u{e0041}\u2028x' };
			const [words] = await reviewParagraphs('crm_change', { kind: 'deal', action: 'create', values });
			expect(words).toContain('Title: “Bridge ⏎ Complete this task to approve\\u{202e}\\u{e0041} ⏎ x”');
		});

		test('calls of other tools show only the message', async () => {
			const update = { kind: 'deal', action: 'update', record: at.deal.id, values: { amount: 1 } };
			expect(await reviewParagraphs('other_change', update)).toEqual([workflowSays]);
			expect(await reviewParagraphs('crm_get', { kind: 'deal', record: at.deal.id })).toEqual([workflowSays]);
		});
	});

	test('each of several simultaneous calls has its own approval and result, whatever its input says', async () => {
		const execution = await ask(
			{ approvalTitle: 'Each' }, { items: [{ approved: true, data: { approved: true } }] }, undefined, undefined, 3,
		);
		const seenTaskIds = new Set<unknown>();
		for (const approved of [false, true, false]) {
			const task = await until(async () => [await newest()].find(({ id, title }) => title === 'Each' && !seenTaskIds.has(id)));
			seenTaskIds.add(task.id);
			await until(() => execution.isWaiting());
			if (approved) await complete(task);
			else await call('DELETE', `/v1/tasks/${String(task.id)}`);
			await until(() => execution.resumed === seenTaskIds.size);
		}
		await decided(execution);
		expect(execution.outputs()).toMatchObject([
			[{ data: { approved: false, outcome: 'declined' } }], [{ data: { approved: true } }], [{ data: { outcome: 'declined' } }],
		]);
	});

	test('a retry after lost responses waits for the same task', async () => {
		const before = Number(await count('/v1/tasks'));
		await faults(...['/v1/tasks', '/v1/webhooks'].map((path) => ({ path, method: 'POST', drop: 'after', times: usualLimits.attempts })));
		const execution = await ask({}, { retryOnFail: true });
		await faults();
		expect(await count('/v1/tasks')).toBe(before + 1);
		expect(await webhooks()).toHaveLength(1);
		await complete(await newest());
		await decided(execution);
		expect(execution.output()).toMatchObject([{ data: { approved: true } }]);
	});

	test('a request that fails leaves no subscription; a retry of the execution asks again, with a link that continues it', async () => {
		await faults({ path: '/v1/tasks', method: 'GET', status: 403, times: 1 });
		const execution = await ask();
		expect(execution.error()).toBeDefined();
		expect(await webhooks()).toEqual([]);
		await execution.retry();
		expect(execution.error()).toBeUndefined();
		await complete(await newest());
		await decided(execution);
		expect(execution.output()).toMatchObject([{ data: { approved: true } }]);
	});

	test('the owner of a record is not asked if they cannot sign in', async () => {
		const { body: piet } = await call('POST', '/v1/users', { email: 'piet@x.example', first_name: 'Piet', status: 'active' });
		const { body: company } = await call('POST', '/v1/companies', { name: 'Delta', owner_id: piet.id });
		await call('PATCH', `/v1/users/${String(piet.id)}`, { status: 'deactivated' });
		const before = await count('/v1/tasks');
		const execution = await ask({ aboutKind: 'company', aboutRecord: company.id });
		expect(String(execution.error()?.message)).toContain('Piet is deactivated');
		expect(await count('/v1/tasks')).toBe(before);
	});
});
