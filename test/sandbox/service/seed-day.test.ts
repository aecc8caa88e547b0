import { resources } from '../../../sandbox/core/schemas/index.ts';
import { startSandbox, type Sandbox } from '../../../sandbox/serve.ts';
import { callService } from '../harness/call-service.ts';

const day = '2026-03-31';
let sandbox: Sandbox;
/** An account made today, since events are kept for 30 days. */
let lively: Sandbox;

beforeAll(async () => {
	sandbox = await startSandbox({ contacts: 200, plan: 'enterprise', day });
	lively = await startSandbox({ contacts: 200, plan: 'enterprise', isLively: true });
});
afterAll(async () => {
	await sandbox.close();
	await lively.close();
});

async function count(path: string, { url, apiKey } = sandbox): Promise<number> {
	const { status, body } = await callService(url, apiKey, 'GET', path);
	expect(status).toBe(200);
	return body.total;
}

test.each([
	['open deals that close this month', '/v1/deals?status=open&expected_close_date[gte]=2026-03-01&expected_close_date[lt]=2026-04-01'],
	['open deals that close next month', '/v1/deals?status=open&expected_close_date[gte]=2026-04-01&expected_close_date[lt]=2026-05-01'],
	['deals won this week', '/v1/deals?status=won&closed_at[gte]=2026-03-24T00:00:00Z'],
	['tasks due this week', '/v1/tasks?status=not_started,in_progress&due_at[gte]=2026-03-31T00:00:00Z&due_at[lt]=2026-04-07T00:00:00Z'],
	['contacts changed this week', '/v1/contacts?updated_since=2026-03-24T00:00:00Z'],
])('an account made on a day has %s', async (_, path) => {
	expect(await count(path)).toBeGreaterThan(0);
});

test('nothing was created or changed after the day on which the data ends', async () => {
	for (const { name } of resources) {
		expect(await count(`/v1/${name}?created_at[gte]=${day}T00:00:00Z`)).toBe(0);
		expect(await count(`/v1/${name}?updated_at[gte]=${day}T00:00:00Z`)).toBe(0);
	}
});

test('the event log of a lively account begins with a few days of work', async () => {
	for (const type of ['deal.won', 'deal.stage_changed', 'contact.updated', 'ticket.created', 'task.completed']) {
		expect([type, await count(`/v1/events?type=${type}`, lively)]).not.toEqual([type, 0]);
		expect(await count(`/v1/events?type=${type}`)).toBe(0);
	}
});
