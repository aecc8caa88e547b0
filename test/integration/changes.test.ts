import type { IDataObject } from 'n8n-workflow';

import { run as runNode, type Setup } from './n8n.ts';
import { getMany } from './parameters.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox();
const other = useSandbox();

/** What n8n keeps for the workflow between its executions, as JSON in its database. */
let kept: IDataObject = {};
beforeEach(() => void (kept = {}));

/** Runs the node in the active workflow. */
async function run(more: IDataObject = {}, setup: Partial<Setup> = {}, filters: IDataObject = {}) {
	const staticData = JSON.parse(JSON.stringify(kept)) as IDataObject;
	const parameters = getMany('contact', { changedSince: 'lastRun', ...more }, filters);
	try {
		return await runNode({
			credential: sandbox.credential,
			parameters,
			mode: 'trigger',
			staticData,
			...setup,
		});
	} finally {
		// n8n keeps it whether the execution succeeded or not, but not of one started by hand.
		if (setup.mode !== 'manual') kept = JSON.parse(JSON.stringify(staticData)) as IDataObject;
	}
}
const idsOf = ({ items }: Awaited<ReturnType<typeof run>>) => items.map(({ json }) => json.id);

async function add(values: IDataObject = {}): Promise<string> {
	const { body } = await sandbox.call('POST', '/v1/contacts', { last_name: 'New', ...values });
	return String(body.id);
}
const change = async (id: unknown, job: string) =>
	await sandbox.call('PATCH', `/v1/contacts/${String(id)}`, { job_title: job });

test('the first run gives every record, the next ones what was changed since, once', async () => {
	const all = await run();
	expect(new Set(idsOf(all)).size).toBe(all.items.length);
	expect(all.items.length).toBeGreaterThanOrEqual(25);
	expect(idsOf(await run())).toEqual([]);

	const added = await add();
	await change(all.items[3]?.json.id, 'Pilot');
	const changes = await run();
	expect(idsOf(changes)).toEqual([added, all.items[3]?.json.id]);
	expect(changes.items[1]?.json.job_title).toBe('Pilot');
	expect(idsOf(await run())).toEqual([]);

	await change(added, 'Diver');
	expect(idsOf(await run())).toEqual([added]);
});

test('deleted records come when they are asked for, simplified too with the time of it', async () => {
	const id = await add();
	const asked = { includeDeleted: true, simplify: true };
	await run(asked);
	await run();
	await sandbox.call('DELETE', `/v1/contacts/${id}`);
	const { items } = await run(asked);
	expect(items).toMatchObject([{ json: { id, deleted_at: expect.stringMatching(/^\d{4}-/) } }]);
	expect(Object.keys(items[0]?.json ?? {}).length).toBeLessThanOrEqual(10);
	expect(idsOf(await run())).toEqual([]);
});

test('what is beyond the limit comes in the next run', async () => {
	await run();
	const added = [await add(), await add(), await add()];
	const limited = { returnAll: false, limit: 2 };
	expect(idsOf(await run(limited))).toEqual(added.slice(0, 2));
	expect(idsOf(await run(limited))).toEqual(added.slice(2));
	expect(idsOf(await run(limited))).toEqual([]);
});

test('a node that is renamed goes on where it was', async () => {
	await run();
	const id = await add();
	expect(idsOf(await run({}, { name: 'Changed contacts' }))).toEqual([id]);
});

test('other filters begin anew, and disturb nothing', async () => {
	await run();
	const id = await add({ lifecycle_stage: 'customer' });
	const customers = await run({}, {}, { lifecycle_stage: 'customer' });
	expect(customers.items.length).toBeGreaterThan(1);
	expect(idsOf(await run())).toEqual([id]);
});

test('another account begins anew, and so does another credential', async () => {
	const all = idsOf(await run());
	const moved = await run({}, { credential: { ...sandbox.credential, baseUrl: `${sandbox.url}/v1` } });
	expect(moved.items).toEqual([]);
	const { credential } = other;
	expect((await run({}, { credential })).items).toHaveLength(25);
	expect((await run({}, { credential })).items).toEqual([]);
	expect(idsOf(await run({}, { credentialId: 'credential-2' }))).toEqual(all);
	expect(idsOf(await run())).toEqual([]);
});

test('chosen fields come out alone, and every record does, with its id or without', async () => {
	const asked = { options: { outputFields: ['email'] } };
	const { items } = await run(asked);
	expect(items).toHaveLength(idsOf(await run({ changedSince: 'ever' })).length);
	for (const { json } of items) expect(Object.keys(json)).toEqual(['email']);
	const { query } = (await sandbox.requests()).at(0) ?? {};
	expect(decodeURIComponent(query ?? '')).toContain('fields=email,id,updated_at');
	expect((await run(asked)).items).toEqual([]);
});

describe('after a run that failed', () => {
	const items = [{ stage: 'customer' }, { stage: 'lead' }];
	const filters = { lifecycle_stage: '={{ $json.stage }}' };
	const second = { path: '/v1/contacts', method: 'GET', after: 1, status: 403 };

	test('the next one gives its changes again', async () => {
		const all = await run({}, { items }, filters);
		expect(all.items.length).toBeGreaterThan(2);
		await add({ lifecycle_stage: 'customer' });
		await sandbox.faults(second);
		await expect(run({}, { items }, filters)).rejects.toMatchObject({ httpCode: '403' });
		await sandbox.clear();
		expect((await run({}, { items }, filters)).items).toHaveLength(1);
	});

	test('but with Continue On Fail only those of the items that failed', async () => {
		const continueOnFail = true;
		await run({}, { items }, filters);
		await add({ lifecycle_stage: 'customer' });
		const lead = await add({ lifecycle_stage: 'lead' });
		await sandbox.faults(second);
		const half = await run({}, { items, continueOnFail }, filters);
		expect(half.items).toMatchObject([{ json: {} }, { json: { error: expect.anything() } }]);
		await sandbox.clear();
		expect(idsOf(await run({}, { items, continueOnFail }, filters))).toEqual([lead]);
	});
});

test('a run by hand reads what the next run of the workflow would, and says that it keeps nothing', async () => {
	await run();
	const id = await add();
	const byHand = await run({}, { mode: 'manual' });
	expect(idsOf(byHand)).toEqual([id]);
	expect(byHand.hints.join()).toContain('started by hand');
	const next = await run();
	expect(idsOf(next)).toEqual([id]);
	expect(next.hints).toEqual([]);
});

test.each(['trigger', 'webhook', 'retry'] as const)(
	'a stored copy of the workflow, started by a %s, is refused and overwrites nothing that is kept',
	async (mode) => {
		const nothing = { global: {} };
		const staticData = structuredClone(nothing);
		const copy = run({}, { mode, active: false, staticData });
		await expect(copy).rejects.toThrow('n8n has started this execution without what it keeps');
		expect(staticData).toEqual(nothing);
		expect(await sandbox.requests()).toEqual([]);
	},
);

test('a moment is meant in the time zone of the workflow and keeps nothing', async () => {
	await run(
		{ changedSince: 'moment', moment: '2025-03-01T00:00:00', includeDeleted: true },
		{ timezone: 'America/New_York' },
	);
	const [request] = await sandbox.requests();
	const query = new URLSearchParams(request?.query);
	expect(query.get('updated_since')).toBe('2025-03-01T05:00:00.000Z');
	expect(query.get('include_deleted')).toBe('true');
	expect(kept).toEqual({});
});

test.each([
	[{ changedSince: 'moment', moment: '' }, 'Moment: it is empty'],
	[{ options: { sort: 'name' } }, 'goes without the options'],
	[{ options: { onePage: true } }, 'goes without the options'],
	[{ options: { cursor: 'abc' } }, 'goes without the options'],
	[{ options: { parallelReads: 0 } }, 'Parallel Reads: it takes a number from 1 to 10'],
	[{ options: { parallelReads: 1000 } }, 'Parallel Reads: it takes a number from 1 to 10'],
])('%j is refused in the user’s words', async (more, words) => {
	await expect(run(more)).rejects.toThrow(words);
	expect(await sandbox.requests()).toEqual([]);
});

test.each(['lastRun', 'moment'])('%s does not put aside the user’s own filter by change', async (changedSince) => {
	const filters = { updated_since: '2099-01-01' };
	const more = { changedSince, moment: '2000-01-01' };
	await expect(run(more, {}, filters)).rejects.toThrow('goes without the filter Updated Since');
	expect((await run({ changedSince: 'ever' }, {}, filters)).items).toEqual([]);
});
