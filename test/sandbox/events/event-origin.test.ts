import { inProcess, type InProcess, type Json } from '../harness/in-process.ts';
import { ended, startJob } from '../harness/job-client.ts';

let now: number;
let sandbox: InProcess;
beforeEach(() => {
	now = Date.parse('2026-03-01T09:30:00.000Z');
	sandbox = inProcess({ now: () => now });
});

const key = { 'Idempotency-Key': 'order-4711' };
const requests = async (query = ''): Promise<Json[]> =>
	(await sandbox.all(`/v1/events${query}`)).map(({ request }) => request);

test('an event names the request that caused it, with its idempotency key', async () => {
	const { headers } = await sandbox.post('/v1/contacts', { last_name: 'x' }, key);
	const request = { id: headers.get('X-Request-Id'), idempotency_key: 'order-4711' };
	expect(await requests()).toEqual([request]);
	await sandbox.post('/v1/contacts', { last_name: 'x' }, key);
	expect(await requests()).toEqual([request]);
	const plain = await sandbox.post('/v1/contacts', { last_name: 'y' });
	const id = plain.headers.get('X-Request-Id');
	expect(await requests()).toEqual([request, { id, idempotency_key: null }]);
});

test('all changes of a batch, an action or a consequence name the same request', async () => {
	const [{ id: assignee }] = await sandbox.all('/v1/users');
	const { body: ticket } = await sandbox.post('/v1/tickets', { subject: 'x', assignee_id: assignee });
	await sandbox.patch(`/v1/tickets/${ticket.id}`, { status: 'solved' });
	const { body: deal } = await sandbox.post('/v1/deals', { title: 'x' });
	const calls = [
		['/v1/contacts/batch/create', { items: [{ last_name: 'a' }, { last_name: 'b' }] }],
		[`/v1/deals/${deal.id}/win`, undefined],
		// It reopens the ticket.
		['/v1/messages', { channel: 'email', direction: 'inbound', to: ['a@x.example'], text: 'x', ticket_id: ticket.id }],
	] as const;
	for (const [i, [path, body]] of calls.entries()) {
		const before = (await requests()).length;
		const { headers } = await sandbox.post(path, body, { 'Idempotency-Key': `k${i}` });
		const caused = (await requests()).slice(before);
		const request = { id: headers.get('X-Request-Id'), idempotency_key: `k${i}` };
		expect(caused.length).toBeGreaterThan(1);
		expect(caused).toEqual(caused.map(() => request));
	}
});

test('the changes of a job, and its end, name the request that started the job', async () => {
	const started = await startJob(sandbox, 'create', [{ last_name: 'a' }, { last_name: 'b' }], key);
	const { request } = await ended(sandbox, started.body.id);
	expect(request).toEqual({ id: started.headers.get('X-Request-Id'), idempotency_key: 'order-4711' });
	expect(await requests()).toEqual([request, request, request]);
	expect(await requests('?type=job.completed')).toEqual([request]);
});

test('changes that happen by themselves name no request', async () => {
	const message = { channel: 'email', direction: 'outbound', text: 'x', to: ['a@x.example'] };
	await sandbox.post('/v1/messages', message, key);
	now += 60_000;
	expect(await requests('?type=message.sent,message.delivered')).toEqual([null, null]);
});
