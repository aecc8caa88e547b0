import type { IDataObject } from 'n8n-workflow';

import type { NodeRun } from '../../nodes/CrmPlatform/model.ts';
import { rememberWrite, stateOfRun } from '../../nodes/CrmPlatform/writing/runState.ts';
import { peopleByEmail, useBatchWrites } from '../support/batch-writes.ts';
import type { Setup } from '../support/node-runs.ts';
import { automatic, create, getMany, update, upsert } from '../support/parameters.ts';

const { sandbox, run, found, writes } = useBatchWrites();

const batch = '/v1/contacts/batch';
const people = (name: string, count: number): IDataObject[] =>
	Array.from({ length: count }, (_, i) => ({ last_name: name, job_title: `Number ${i}` }));
const inBatchesOf = (batchSize: number) => ({ ...create('contact', automatic), options: { batchSize } });
/** Sorted, since batches are sent at the same time. */
const keys = async () => (await writes()).map(({ idempotencyKey }) => String(idempotencyKey)).sort();

/** The sandbox, as a service that does not describe itself. */
const withoutDescription = () => ({ ...sandbox.credential, descriptionUrl: `${sandbox.url}/nothing` });

let executions = 0;
/** Runs the node as often as n8n does for one run of it, with the same context. */
const attempts = (parameters: object, items: IDataObject[], more: Partial<Setup> = {}) => {
	const shared = { executionId: `execution-${(executions += 1)}`, context: {}, ...more };
	return async (changed: Partial<Setup> = {}) => await run(parameters, items, { ...shared, ...changed });
};

test('a run leaves what another run of the node remembers at the same time', () => {
	const context: { writes?: IDataObject } = {};
	const [first, second] = ['first', 'second'].map((runKey) => {
		const n8n = { getExecutionId: () => '1', getContext: () => context };
		return { n8n, identity: { runKey }, api: { isSelfDescribed: () => true } } as unknown as NodeRun;
	});
	for (const each of [first!, second!]) rememberWrite(each);
	context.writes!.refusedByRequest = { '=0': '0' };
	for (const each of [first!, second!]) rememberWrite(each);
	expect(context.writes).toMatchObject({ runKey: 'second', refusedByRequest: { '=0': '0' } });
	const [jobs] = [first!, second!].map((each) => stateOfRun(each, 'importJobs'));
	expect(stateOfRun(first!, 'importJobs')).toBe(jobs);
});

describe('the attempts of one run', () => {
	test('keep the size of the first batch that was sent, even if the options have changed', async () => {
		const attempt = attempts(inBatchesOf(2), people('resized', 6));
		const unreadable = { ...inBatchesOf(1), fieldsMode: 'json', fieldsJson: '={{ 1 }}' };
		await expect(attempt({ parameters: unreadable })).rejects.toThrow('is not an object');
		await sandbox.faults({ path: batch, method: 'POST', after: 2, times: 1, status: 422 });
		await expect(attempt()).rejects.toThrow();
		await attempt({ parameters: inBatchesOf(5) });
		expect(await found('resized')).toBe(6);
	});

	test('keep the halves of a batch that was too large', async () => {
		const attempt = attempts(inBatchesOf(4), people('halved', 4));
		await sandbox.faults(
			{ path: batch, method: 'POST', times: 1, status: 413 },
			{ path: batch, method: 'POST', after: 1, times: 1, status: 422 },
		);
		await expect(attempt()).rejects.toThrow();
		await attempt();
		expect(await found('halved')).toBe(4);
	});

	test('send nothing again of a record that an unreadable item has changed since', async () => {
		const domainOf = (name: string) => `${name}.shared.example`;
		const company = async (name: string) => String((await sandbox.create('companies', { name, domain: domainOf(name) })).id);
		const [x, y, holder] = [await company('x'), await company('y'), await company('holder')];
		const changes = ([[x, 'holder'], [y, 'free'], [x, 'last']] as const).map(([id, name]) => ({ id, domain: domainOf(name) }));
		const inTwo = { ...update('company', '={{ $json.id }}', automatic), options: { batchSize: 2 } };
		const attempt = attempts(inTwo, changes, { continueOnFail: true });
		await attempt();
		await sandbox.call('PATCH', `/v1/companies/${holder}`, { domain: null });
		await attempt({ items: [changes[0]!, changes[1]!, { ...changes[2], employee_count: 'many' }] });
		expect((await sandbox.read(`companies/${x}`)).domain).toBe(domainOf('last'));
	});

	test('divide what is too large if an earlier attempt was refused as a whole', async () => {
		const attempt = attempts(inBatchesOf(4), people('whole', 4), { continueOnFail: true });
		for (const status of [403, 413]) {
			await sandbox.faults({ path: batch, method: 'POST', times: 1, status });
			await attempt();
		}
		expect(await found('whole')).toBe(4);
	});

	test('write once each, if an agent calls the tool twice at the same time', async () => {
		const more = { executionId: 'tool', context: {}, isTool: true };
		const values = { ...create('company', automatic), fieldsMode: 'json', fieldsJson: "={{ $fromAI('values', '', 'json') }}" };
		const call = async (name: string) => (await run(values, [{ values: { name } }], more)).items[0]?.json;
		const answers = await Promise.all([call('parallel 1'), call('parallel 2')]);
		expect(answers).toMatchObject([{ name: 'parallel 1' }, { name: 'parallel 2' }]);
	});

	test('send nothing if the description, and with it the form of the keys, can no longer be read', async () => {
		const attempt = attempts(inBatchesOf(2), people('undescribed', 4));
		await attempt();
		await expect(attempt({ credential: withoutDescription() })).rejects.toThrow('To avoid duplicates');
		expect(await found('undescribed')).toBe(4);
	});

	test('have other keys in another run of the node, and in another execution', async () => {
		const context = {};
		for (const more of [{ context }, { context, runIndex: 1 }, { context: {} }, { executionId: 'b', context: {} }]) {
			await run(inBatchesOf(2), people('runs', 2), { executionId: 'a', ...more });
		}
		expect(new Set(await keys()).size).toBe(3);
	});
});

test('an execution writes its own records, whatever one of its number has written before n8n was restored from a backup', async () => {
	const runAt = async (started: number) => await run(inBatchesOf(2), people('restored', 2), { executionId: '100', context: {}, started });
	await runAt(1_772_000_000_000);
	const { hints } = await runAt(1_772_000_900_000);
	expect(await found('restored')).toBe(4);
	expect(hints).toEqual([]);
});

describe('a sub-workflow, which n8n starts anew when its parent is retried', () => {
	const parent = { parentExecutionId: '7' };
	const sendContact = { resource: 'apiRequest', operation: 'send', method: 'POST', path: '/v1/contacts', body: { last_name: 'sub' } };

	test.each([
		['creates a batch', inBatchesOf(2), people('sub', 2)],
		['creates or updates a batch', upsert('contact', 'email', { email: '={{ $json.email }}', last_name: 'sub' }), peopleByEmail('sub', 2)],
		['creates a record', create('contact', automatic), people('sub', 1)],
		['sends a request', sendContact, [{}]],
	])('%s with the hint that only Write Once Per prevents a second write', async (_, parameters, items) => {
		const { hints } = await run(parameters, items, parent);
		expect(hints).toEqual([expect.stringContaining('set Write Once Per')]);
		const once = await run({ ...parameters, options: { writeOncePer: `={{ $itemIndex }} ${JSON.stringify(items)}` } }, items, parent);
		expect(once.hints).toEqual([]);
	});

	test('updates a record without it: a second time changes nothing', async () => {
		const { id } = await sandbox.read('contacts?limit=1').then(({ data }) => (data as IDataObject[])[0]!);
		const { hints } = await run(update('contact', String(id), { job_title: 'Sub' }), [{}], parent);
		expect(hints).toEqual([]);
	});
});

test('a retry of a failed execution has the keys of that one', async () => {
	const context = {};
	const runAs = async (executionId: string) => await run(inBatchesOf(2), people('retried', 6), { context, executionId });
	await sandbox.faults({ path: batch, method: 'POST', after: 2, times: 1, status: 422 });
	await expect(runAs('failed')).rejects.toThrow();
	await runAs('its retry');
	expect(await found('retried')).toBe(6);
});

describe('Write Once Per', () => {
	const oncePer = (writeOncePer: string) => ({ ...create('contact', automatic), options: { writeOncePer } });

	test('writes an item once for its value, also in another execution', async () => {
		const items = people('ordered', 3);
		const parameters = oncePer('={{ $json.last_name + $json.job_title }}');
		const first = await run(parameters, items.slice(0, 2));
		const second = await run(parameters, items);
		expect(await found('ordered')).toBe(3);
		expect(second.items.slice(0, 2).map(({ json }) => json.id)).toEqual(first.items.map(({ json }) => json.id));
	});

	test('refuses other values for a value that was already written, with an explanation', async () => {
		const parameters = oncePer('={{ $json.last_name }}');
		await run(parameters, people('changed-order', 1));
		const again = run(parameters, [{ last_name: 'changed-order', job_title: 'Other' }]);
		await expect(again).rejects.toMatchObject({ description: expect.stringContaining('Write Once Per') });
	});

	test('refuses an item without a value', async () => {
		const { items } = await run(
			oncePer('={{ $json.job_title }}'),
			[{ last_name: 'no-order' }, { last_name: 'no-order', job_title: 'Has one' }],
			{ continueOnFail: true },
		);
		expect(items[0]?.json.error).toContain('Write Once Per');
		expect(await found('no-order')).toBe(1);
	});
});

test('a service whose description cannot be read gets no keys: a write whose response was lost is not repeated', async () => {
	await sandbox.faults({ path: '/v1/contacts', method: 'POST', drop: 'after' });
	const more = { retryOnFail: true, credential: withoutDescription() };
	await expect(run(create('contact', { last_name: 'notGuaranteed' }), [{}], more)).rejects.toMatchObject({
		description: expect.stringMatching(/may have been processed[^]*could not be read[^]*Retry On Fail may write/),
	});
	expect(await found('notGuaranteed')).toBe(1);
});

test('a record with a field called error does not count as a failure in n8n', async () => {
	const failed = { id: 'msg_1', status: 'failed', error: { code: 'bounced' } };
	const body = { data: [failed], next_cursor: null, total: 1 };
	await sandbox.faults({ path: '/v1/messages', status: 200, body });
	const { items } = await run(getMany('message'));
	expect(items.map(({ json }) => json)).toEqual([{ id: 'msg_1', status: 'failed', error_info: { code: 'bounced' } }]);
});
