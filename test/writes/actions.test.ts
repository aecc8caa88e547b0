import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import { automatic, byId, mapped, on, update } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { output, run } = nodeRuns(sandbox);

test('a deal is won, reopened and lost with its reason', async () => {
	const { id } = await sandbox.create('deals', { title: 'Fleet', amount: 100 });
	expect(await output(on('deal', 'win', id))).toMatchObject([{ status: 'won' }]);
	expect(await output(on('deal', 'reopen', id))).toMatchObject([{ status: 'open' }]);
	const lost = await output(on('deal', 'lose', id, { fields: mapped({ lost_reason: 'Price' }) }));
	expect(lost).toMatchObject([{ status: 'lost', lost_reason: 'Price' }]);
});

describe('a ticket', () => {
	test('is assigned, solved, reopened, solved and closed', async () => {
		const { id } = await sandbox.create('tickets', { subject: 'Broken' });
		const [user] = await sandbox.list('users?limit=1');
		const assigned = await output(on('ticket', 'assign', id, { assigneeId: byId(String(user?.id)) }));
		expect(assigned).toMatchObject([{ assignee_id: user?.id }]);
		const steps = [['solve', 'solved'], ['reopen', 'open'], ['solve', 'solved'], ['close', 'closed']] as const;
		for (const [operation, status] of steps) {
			expect(await output(on('ticket', operation, id))).toMatchObject([{ status }]);
		}
	});

	test('that may not change its status is refused with the statuses it may have', async () => {
		const { id } = await sandbox.create('tickets', { subject: 'New' });
		const change = on('ticket', 'changeStatus', id, { fields: mapped({ status: 'pending' }) });
		expect(await output(change)).toMatchObject([{ status: 'pending' }]);
		const back = on('ticket', 'changeStatus', id, { fields: mapped({ status: 'new' }) });
		await expect(output(back)).rejects.toMatchObject({ description: expect.stringContaining('solved') });
	});

	test('does not get an invalid status', async () => {
		const { id, version } = await sandbox.create('tickets', { subject: 'Same' });
		const change = on('ticket', 'changeStatus', id, { fields: mapped({ status: '={{ null }}' }) });
		await expect(output(change)).rejects.toThrow(/^Status is empty/);
		const { body } = await sandbox.call('GET', `/v1/tickets/${id}`);
		expect(body).toMatchObject({ version });
	});
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
		({ resource: 'message', operation, simplify: false, fields: mapped({ ...letter, ...more }) }) as INodeParameters;

	test('is scheduled, rescheduled, canceled or sent before its time', async () => {
		const scheduled_at = '2099-01-01T10:00:00.000Z';
		const later = '2099-02-01T10:00:00.000Z';
		const [first] = await output(message('schedule', { scheduled_at }));
		expect(first).toMatchObject({ status: 'scheduled', scheduled_at });
		const moved = await output(on('message', 'reschedule', first?.id, { fields: mapped({ scheduled_at: later }) }));
		expect(moved).toMatchObject([{ scheduled_at: later }]);
		expect(await output(on('message', 'cancel', first?.id))).toMatchObject([{ status: 'canceled' }]);
		const [second] = await output(message('schedule', { scheduled_at }));
		expect(await output(on('message', 'sendNow', second?.id))).toMatchObject([{ scheduled_at: null }]);
	});

	test.each([
		['mapped by hand', { fields: mapped({ ...letter, scheduled_at: '={{ $json.when }}' }) }],
		['as JSON', { fieldsMode: 'json', fieldsJson: JSON.stringify(letter) }],
		['automatically', automatic],
	])('without a time, %s, is not sent immediately instead of later', async (_, fields) => {
		const parameters = { resource: 'message', operation: 'schedule', ...fields } as INodeParameters;
		const items = [letter, { ...letter, scheduled_at: null, schedule_at: '2099-01-01' }];
		const { items: results } = await run(parameters, items, { continueOnFail: true });
		expect(results.map(({ json }) => json.error)).toEqual(items.map(() => expect.stringMatching(/^Scheduled At is empty/)));
		expect((await sandbox.requests()).map(({ method }) => method)).not.toContain('POST');
	});
});

describe('an item for which the expression of the record returns nothing', () => {
	const items = async () => [{ id: (await sandbox.create('companies', { name: 'Altamira' })).id }, { id: null }, {}, { id: '' }];

	test.each(['update', 'get', 'delete'])('fails in %s, with what to do', async (operation) => {
		const parameters = { ...update('company', '={{ $json.id }}', { name: 'New' }), operation };
		const { items: outputs } = await run(parameters, await items(), { continueOnFail: true });
		const failed: unknown = expect.stringMatching(/expression returned nothing.*If Empty/);
		expect(outputs.map(({ json }) => json.error)).toEqual([undefined, failed, failed, failed]);
	});

	test.each(['update', 'get', 'delete'])('is skipped in %s with If Empty, and has no output', async (operation) => {
		const parameters = { ...update('company', '={{ $json.id }}', { name: 'New' }), operation, options: { ifEmpty: 'skip' } };
		const { items: outputs, hints } = await run(parameters, await items());
		expect(outputs).toMatchObject([{ pairedItem: { item: 0 } }]);
		expect(hints).toEqual(['At least one item was skipped: the expression of its record returned nothing (If Empty).']);
	});
});
