import { sinceN8n } from './n8n-version.ts';
import { eventsIn } from './poll-log.ts';
import { Poller } from './poller.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const { contacts, latest } = eventsIn(sandbox);

/** Waits pass at once. */
const clock = { now: Date.now, sleep: async () => {}, random: () => 0.5 };

const activated = async (parameters = {}) => {
	const active = new Poller({ credential: sandbox.credential, parameters, clock });
	await active.activate();
	return active;
};

test('what happened before the first activation starts nothing, what happens later does, once', async () => {
	await contacts(3);
	const active = await activated();
	expect(active.executions).toEqual([]);
	const ids = await contacts(2);
	await active.poll();
	await active.poll();
	expect(active.executions).toHaveLength(1);
	expect(active.executions[0]).toMatchObject([
		{ type: 'contact.created', data: { object: { object: 'contact' } } },
		{ type: 'contact.created' },
	]);
	expect(active.ids).toEqual(ids);
});

test('an account where nothing has ever happened is no obstacle', async () => {
	const active = await activated({ events: ['deal.*'] });
	await sandbox.call('POST', '/v1/deals', { title: 'First' });
	await active.poll();
	expect(active.executions).toMatchObject([[{ type: 'deal.created' }]]);
});

test('none is missed and none comes twice while others write', async () => {
	const active = await activated();
	let isDone = false;
	const writing = Array.from({ length: 40 }, async (_, i) => {
		await sandbox.call('POST', '/v1/companies', { name: `Company ${i}` });
	});
	const done = Promise.all(writing).then(() => (isDone = true));
	while (!isDone) await active.poll();
	await done;
	await active.poll();
	expect(active.ids).toEqual((await latest(40)).map(({ id }) => id));
});

test('a backlog of many pages comes in portions, the rest with the next polls', async () => {
	const active = await activated();
	const ids = await contacts(1_200);
	for (let i = 0; i < 4; i++) await active.poll();
	expect(active.executions.map(({ length }) => length)).toEqual([500, 500, 200]);
	expect(active.ids).toEqual(ids);
});

test('an execution gets no more events than the user wants', async () => {
	const active = await activated({ options: { mostEvents: 3 } });
	const ids = await contacts(7);
	for (let i = 0; i < 3; i++) await active.poll();
	expect(active.executions.map(({ length }) => length)).toEqual([3, 3, 1]);
	expect(active.ids).toEqual(ids);
});

describe('reading goes on where it stopped', () => {
	test('after n8n was down', async () => {
		const active = await activated();
		const before = await contacts(2);
		await active.poll();
		const meanwhile = await contacts(600);
		await active.activate();
		await active.poll();
		expect(active.ids).toEqual([...before, ...meanwhile]);
	});

	test('also when nothing had happened until n8n went down', async () => {
		const active = await activated();
		await active.poll();
		const meanwhile = await contacts(2);
		await active.activate();
		expect(active.ids).toEqual(meanwhile);
	});

	test('when the node was renamed, and when it got its old name again', async () => {
		const active = await activated();
		const ids: string[] = [];
		for (const name of ['Something happened', 'News', 'Something happened']) {
			ids.push(...(await contacts(2)));
			await active.poll();
			ids.push(...(await contacts(1)));
			active.nodeName = name;
			await active.activate();
		}
		expect(active.ids).toEqual(ids);
	});

	test('when the service fails, at the first page or a later one', async () => {
		const active = await activated({ options: { mostEvents: 5_000 } });
		const ids = await contacts(700);
		for (const after of [0, 2]) {
			await sandbox.faults({ path: '/v1/events', method: 'GET', status: 503, after });
			await expect(active.poll()).rejects.toThrow('503');
		}
		await sandbox.clear();
		await active.poll();
		expect(active.executions).toHaveLength(1);
		expect(active.ids).toEqual(ids);
	});

	test('when a poll is still reading as the next one begins', async () => {
		const active = await activated();
		const ids = await contacts(20);
		await Promise.all([active.poll(), active.poll(), active.poll()]);
		expect(active.ids).toEqual(ids);
	});

	sinceN8n('2.38', () => {
		test('when time runs out', async () => {
			let now = Date.now();
			const active = await activated();
			const ids = await contacts(20);
			active.setup.clock = { ...clock, now: () => (now += 10) };
			active.setup.budget = 400;
			while (active.ids.length < 20) await active.poll();
			expect(active.executions.length).toBeGreaterThan(1);
			expect(active.ids).toEqual(ids);
		});

		test('when n8n has given up on a poll', async () => {
			let now = Date.now();
			const active = await activated();
			const ids = await contacts(2);
			active.setup.clock = { ...clock, now: () => (now += 1_000) };
			active.setup.budget = 100;
			await expect(active.poll()).rejects.toThrow('took too long');
			active.setup = { ...active.setup, clock, budget: 60_000 };
			await active.poll();
			expect(active.ids).toEqual(ids);
		});
	});
});

test('an event that shows up behind later ones is not missed', async () => {
	const active = await activated();
	const ids = await contacts(3);
	const [first, , third] = await latest(3);
	await sandbox.faults({
		path: '/v1/events',
		after: 1,
		times: 1,
		status: 200,
		contentType: 'application/json',
		body: JSON.stringify({ data: [first, third], next_cursor: null, total: 2 }),
	});
	await active.poll();
	await active.poll();
	await active.poll();
	expect(active.ids).toEqual([ids[0], ids[2], ids[1]]);
});
