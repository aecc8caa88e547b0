import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { run as runNode } from './harness/node-runs.ts';
import { automatic, byId, mapped, on } from './harness/parameters.ts';
import { useSandbox } from './harness/sandbox.ts';

const sandbox = useSandbox();
const run = async (parameters: INodeParameters): Promise<IDataObject[]> => {
	const { items } = await runNode({ credential: sandbox.credential, parameters });
	return items.map(({ json }) => json);
};

async function createRecord(path: string, body: IDataObject): Promise<IDataObject & { id: string }> {
	const { status, body: record } = await sandbox.call('POST', `/v1${path}`, body);
	if (status !== 201) throw new Error(JSON.stringify(record));
	return record as IDataObject & { id: string };
}

const listed = async (path: string): Promise<IDataObject[]> =>
	(await sandbox.call('GET', `/v1${path}`)).body.data as IDataObject[];

describe('a deal', () => {
	const openDeal = async () => await createRecord('/deals', { title: 'Fleet', amount: 100 });

	test('is won, reopened and lost with its reason', async () => {
		const { id } = await openDeal();
		expect(await run(on('deal', 'win', id))).toMatchObject([{ status: 'won' }]);
		expect(await run(on('deal', 'reopen', id))).toMatchObject([{ status: 'open' }]);
		const lost = await run(on('deal', 'lose', id, { fields: mapped({ lost_reason: 'Price' }) }));
		expect(lost).toMatchObject([{ status: 'lost', lost_reason: 'Price' }]);
	});

	test('moves to a stage', async () => {
		const { id, pipeline_id: pipeline } = await openDeal();
		const stages = (await sandbox.call('GET', `/v1/pipelines/${String(pipeline)}`)).body
			.stages as IDataObject[];
		const stage = stages.filter(({ kind }) => kind === 'open').at(-1)?.id;
		const [moved] = await run(
			on('deal', 'moveToStage', id, { stageId: byId(String(stage)) }),
		);
		expect(moved).toMatchObject({ id, stage_id: stage, status: 'open' });
	});
});

describe('a ticket', () => {
	test('is assigned, solved, reopened, solved and closed', async () => {
		const { id } = await createRecord('/tickets', { subject: 'Broken' });
		const [user] = await listed('/users?limit=1');
		const assigned = await run(
			on('ticket', 'assign', id, { assigneeId: byId(String(user?.id)) }),
		);
		expect(assigned).toMatchObject([{ assignee_id: user?.id }]);
		const steps = [
			['solve', 'solved'],
			['reopen', 'open'],
			['solve', 'solved'],
			['close', 'closed'],
		] as const;
		for (const [operation, status] of steps) {
			expect(await run(on('ticket', operation, id))).toMatchObject([{ status }]);
		}
	});

	test('that may not change its status is refused with the statuses it may have', async () => {
		const { id } = await createRecord('/tickets', { subject: 'New' });
		const change = on('ticket', 'changeStatus', id, { fields: mapped({ status: 'pending' }) });
		expect(await run(change)).toMatchObject([{ status: 'pending' }]);
		const back = on('ticket', 'changeStatus', id, { fields: mapped({ status: 'new' }) });
		await expect(run(back)).rejects.toMatchObject({ description: expect.stringContaining('solved') });
	});

	test('that is not solved is solved by closing it', async () => {
		const [user] = await listed('/users?limit=1');
		const { id } = await createRecord('/tickets', { subject: 'Open', assignee_id: user?.id });
		const [closed] = await run(on('ticket', 'close', id));
		expect(closed).toMatchObject({ status: 'closed', solved_at: closed!['closed_at'] });
	});

	test('does not get an invalid status', async () => {
		const { id, version } = await createRecord('/tickets', { subject: 'Same' });
		const change = on('ticket', 'changeStatus', id, { fields: mapped({ status: '={{ null }}' }) });
		await expect(run(change)).rejects.toThrow(/^Status is empty/);
		const { body } = await sandbox.call('GET', `/v1/tickets/${id}`);
		expect(body).toMatchObject({ version });
	});
});

test('a task is completed and reopened', async () => {
	const { id } = await createRecord('/tasks', { title: 'Call back' });
	expect(await run(on('task', 'complete', id))).toMatchObject([{ status: 'completed' }]);
	expect(await run(on('task', 'reopen', id))).toMatchObject([{ status: 'not_started' }]);
});

describe('a message', () => {
	const letter = {
		channel: 'email',
		from: 'we@resources.example',
		to: 'you@resources.example',
		subject: 'Hello',
		text: 'Hello you',
	};
	const message = (operation: string, more: IDataObject = {}) =>
		({
			resource: 'message',
			operation,
			simplify: false,
			fields: mapped({ ...letter, ...more }),
		}) as INodeParameters;

	test('is sent at once', async () => {
		expect(await run(message('send'))).toMatchObject([
			{ direction: 'outbound', scheduled_at: null },
		]);
	});

	test('is scheduled, rescheduled, canceled or sent before its time', async () => {
		const scheduled_at = '2099-01-01T10:00:00.000Z';
		const later = '2099-02-01T10:00:00.000Z';
		const [first] = await run(message('schedule', { scheduled_at }));
		expect(first).toMatchObject({ status: 'scheduled', scheduled_at });
		const moved = await run(
			on('message', 'reschedule', first?.id, { fields: mapped({ scheduled_at: later }) }),
		);
		expect(moved).toMatchObject([{ scheduled_at: later }]);
		expect(await run(on('message', 'cancel', first?.id))).toMatchObject([{ status: 'canceled' }]);
		const [second] = await run(message('schedule', { scheduled_at }));
		expect(await run(on('message', 'sendNow', second?.id))).toMatchObject([{ scheduled_at: null }]);
	});

	test.each([
		['mapped by hand', { fields: mapped({ ...letter, scheduled_at: '={{ $json.when }}' }) }],
		['as JSON', { fieldsMode: 'json', fieldsJson: JSON.stringify(letter) }],
		['automatically', automatic],
	])('without a time, %s, is not sent immediately instead of later', async (_, fields) => {
		const parameters = { resource: 'message', operation: 'schedule', ...fields } as INodeParameters;
		const items = [letter, { ...letter, scheduled_at: null, schedule_at: '2099-01-01' }];
		const { items: output } = await runNode({
			credential: sandbox.credential,
			parameters,
			items,
			continueOnFail: true,
		});
		expect(output.map(({ json }) => json.error)).toEqual(
			items.map(() => expect.stringMatching(/^Scheduled At is empty/)),
		);
		expect((await sandbox.requests()).map(({ method }) => method)).not.toContain('POST');
	});

	test('that was received elsewhere is logged', async () => {
		expect(await run(message('logIncoming'))).toMatchObject([
			{ direction: 'inbound', status: 'received' },
		]);
	});
});

test('a tag is added to a record and removed', async () => {
	const { id } = await createRecord('/contacts', { email: 'tagged@resources.example' });
	const tag = await createRecord('/tags', { name: 'Tagged' });
	const tagId = { __rl: true, mode: 'id', value: tag.id };
	expect(await run(on('recordTag', 'addTag', id, { kind: 'contact', tagId }))).toMatchObject([{ tag_ids: [tag.id] }]);
	expect(await run(on('recordTag', 'removeTag', id, { kind: 'contact', tagId }))).toMatchObject([{ tag_ids: [] }]);
});
