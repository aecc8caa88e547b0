import { failure, nodeRuns } from '../support/node-runs.ts';
import { sinceN8n } from '../support/n8n-version.ts';
import { automatic, create, getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { run } = nodeRuns(sandbox);

describe('an item that fails', () => {
	test('contains the node’s notices, since n8n drops the hints of a failed node', async () => {
		await expect(run(create('contact', { email: 'not an address', shoe_size: '43' }))).rejects.toMatchObject({
			message: expect.stringContaining('email'),
			description: expect.stringContaining('shoe_size'),
		});
	});

	test('does not stop the others when the workflow continues on failure, and keeps its input', async () => {
		const failing = async (name: string, continueOnFail: true | 'errorOutput') => {
			const emails = [`${name}-1@failures.example`, 'not an address', `${name}-2@failures.example`];
			return (await run(create('contact', automatic), emails.map((email) => ({ email })), { continueOnFail })).items;
		};
		expect(await failing('continue', true)).toMatchObject([
			{ json: { email: 'continue-1@failures.example' }, pairedItem: { item: 0 } },
			{
				json: { email: 'not an address', error: expect.any(String), details: { status: 422, code: 'validation_failed' } },
				pairedItem: { item: 1 },
			},
			{ json: { email: 'continue-2@failures.example' }, pairedItem: { item: 2 } },
		]);
		// n8n takes an item with exactly these for an error, and adds the input.
		const [, failed] = await failing('output', 'errorOutput');
		expect(Object.keys(failed?.json ?? {})).toEqual(['error', 'message', 'details']);
	});

	test('is counted by its reason, with the numbers of the items as n8n counts', async () => {
		const amounts = ['much', '1', 'more', null, '12'].map((amount) => ({ amount, title: amount === null ? '' : 'Counted' }));
		const parameters = create('deal', { title: '={{ $json.title }}', amount: '={{ $json.amount }}' });
		const { hints } = await run(parameters, amounts, { continueOnFail: true });
		expect(hints.join().split('\n')).toEqual([
			'3 of 5 items failed:',
			'2 × Amount: “…” is not a number such as 12.5 (item 0, 2)',
			expect.stringMatching(/^1 × This item has no values to write, .* \(item 3\)$/),
		]);
	});
});

describe('the user reads a clear message', () => {
	test('when a write is answered with a web page', async () => {
		const page = { status: 200, body: '<html></html>', contentType: 'text/html' };
		await sandbox.faults({ path: '/v1/contacts', method: 'POST', ...page });
		const email = 'page@failures.example';
		await expect(run(create('contact', { email }))).rejects.toMatchObject({
			message: expect.stringContaining('returned a web page'),
			context: { data: { request_id: expect.any(String) } },
		});
		expect((await sandbox.requests()).filter(({ method }) => method === 'POST')).toHaveLength(1);
		expect(await sandbox.list(`contacts?email=${email}`)).toEqual([]);
	});

	test('when a duplicate has a name, which says more than its ID', async () => {
		const email = 'named@failures.example';
		const { id } = await sandbox.create('contacts', { email, first_name: 'Ada', last_name: 'King' });
		const { items } = await run(create('contact', automatic), [{ email }, { email }], { continueOnFail: true });
		for (const { json } of items) expect(json.error).toContain(`Ada King (${id})`);
		await expect(run(create('contact', { email }))).rejects.toThrow(`Ada King (${id})`);
	});

	test('when no item can succeed, without advice for each item', async () => {
		const credential = { ...sandbox.credential, apiKey: 'wrong' };
		const { description } = await failure({
			credential, parameters: create('contact', automatic), items: [{ last_name: 'a' }, { last_name: 'b' }],
		});
		expect(description).toContain('Of 2 items, 0 succeeded and 2 failed (item 0, 1).');
		expect(description).not.toContain('On Error');
	});

	test('when the address has no HTTPS, once and without mention of certificates', async () => {
		const credential = { ...sandbox.credential, baseUrl: sandbox.credential.baseUrl.replace('http:', 'https:') };
		const { message, description } = await failure({ credential, parameters: { ...getMany('contact'), options: { maxWait: 0 } } });
		expect(`${message} ${String(description)}`).not.toContain('certificate');
		expect(`${message} ${String(description)}`.split('does not respond over HTTPS')).toHaveLength(2);
	});

	sinceN8n('2.38', () => {
		test('when the plan’s limit stays used up for longer than a workflow should wait', async () => {
			await sandbox.faults({
				path: '/v1/contacts',
				status: 429,
				headers: { 'retry-after': '1' },
			});
			await expect(run(getMany('contact', { options: { maxWait: 0 } }))).rejects.toMatchObject({
				description: expect.stringMatching(/Maximum Wait in the options .+Try again after 20\d\d-/s),
				failure: { cause: 'rate-limited', resetsAtEpochMs: expect.any(Number) },
			});
		});
	});
});
