import { randomUUID } from 'node:crypto';
import { type Sandbox, startSandbox } from '../../../sandbox/serve.ts';
import { until } from '../../support/until.ts';
import { ofSandbox, theN8n } from '../harness/access.ts';
import { listAll, serviceCaller } from '../harness/killable-n8n.ts';
import { runN8nNode } from '../harness/run-n8n-node.ts';
import { requestsTo } from '../harness/sandbox-calls.ts';
import { describeInQueueMode } from './harness/queue-access.ts';

/** As many executions as the workers do at once, and more requests than a window allows. */
const executionCount = 10;
const itemCount = 7;
const planLimit = 40;

/** The part of the first window's minute that the test skips. The rest is enough to use up the window. */
const spentMs = 48_000;

describeInQueueMode('In queue mode', () => {
	const clock = { behind: spentMs };
	let sandbox: Sandbox;
	beforeAll(async () => {
		const now = () => Date.now() - clock.behind;
		sandbox = await startSandbox({ contacts: 0, requestsPerMinute: planLimit, faults: true, now });
	});
	afterAll(async () => {
		await sandbox?.close();
	});

	const statuses = async () =>
		(await requestsTo(sandbox.url)).filter(({ path }) => path.startsWith('/v1/')).map(({ status }) => status);

	/** The first request opens the window; then the clock jumps ahead, to spare the test a minute. */
	async function jumpAhead(): Promise<void> {
		await until(async () => (await statuses()).length > 0);
		clock.behind = 0;
	}

	test('executions on two workers share the limit of one plan', async () => {
		const n8n = theN8n();
		const { url: baseUrl, apiKey } = sandbox;
		const credentials = await ofSandbox({ baseUrl, apiKey });
		const options = { batchSize: 1 };
		const fields = { mappingMode: 'autoMapInputData', value: null, matchingColumns: [], schema: [] };
		const parameters = { resource: 'contact', operation: 'create', fields, options };
		const inputs = Array.from({ length: executionCount }, () =>
			Array.from({ length: itemCount }, () => ({ email: `${randomUUID()}@example.com` })),
		);

		const [runs] = await Promise.all([
			Promise.all(inputs.map(async (input) => await runN8nNode(n8n, { credentials, parameters, input }))),
			jumpAhead(),
		]);

		expect(runs.map(({ status }) => status)).toEqual(runs.map(() => 'success'));
		// A worker that does not learn in time that the other one has used up the window is refused, and waits for the next.
		const refused = (await statuses()).filter((status) => status === 429);
		expect(refused.length).toBeLessThanOrEqual(executionCount);
		const contacts = await listAll<{ email: string }>(serviceCaller(sandbox), '/v1/contacts', '');
		const emails = inputs.flat().map(({ email }) => email);
		expect(contacts.map(({ email }) => email).sort()).toEqual(emails.sort());
	});
});
