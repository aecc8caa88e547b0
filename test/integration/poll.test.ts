import { eventsIn } from './poll-log.ts';
import { Poller } from './poller.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const { contacts, latest } = eventsIn(sandbox);

/** Waits pass at once. */
const clock = { now: Date.now, sleep: async () => {}, random: () => 0.5 };

const poller = (parameters = {}) =>
	new Poller({ credential: sandbox.credential, parameters, clock });

const activated = async (parameters = {}) => {
	const active = poller(parameters);
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

	test('when the node was renamed', async () => {
		const active = await activated();
		active.nodeName = 'Something happened';
		const meanwhile = await contacts(2);
		await active.activate();
		await active.poll();
		expect(active.ids).toEqual(meanwhile);
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

describe('only the events that were chosen start the workflow', () => {
	test('by type, by pattern and by fields that changed', async () => {
		const [typed, pattern, changed] = [
			await activated({ events: ['contact.updated'] }),
			await activated({ events: ['company.*', 'contact.created'] }),
			await activated({ events: ['contact.*'], filters: { changedFields: 'job_title' } }),
		];
		const { id } = (await sandbox.call('POST', '/v1/contacts', { last_name: 'Lima' })).body;
		await sandbox.call('PATCH', `/v1/contacts/${String(id)}`, { first_name: 'Ana' });
		await sandbox.call('PATCH', `/v1/contacts/${String(id)}`, { job_title: 'CTO' });
		await sandbox.call('POST', '/v1/companies', { name: 'Altamira' });
		for (const active of [typed, pattern, changed]) await active.poll();
		const types = ({ executions }: Poller) => executions.flat().map(({ type }) => type);
		expect(types(typed)).toEqual(['contact.updated', 'contact.updated']);
		expect(types(pattern)).toEqual(['contact.created', 'company.created']);
		expect(types(changed)).toEqual(['contact.created', 'contact.updated']);
	});

	test('of custom objects, too', async () => {
		const [object] = (await sandbox.call('GET', '/v1/custom-objects')).body.data as [
			{ key: string; primary_field: string },
		];
		const active = await activated({ events: [`custom.${object.key}.created`] });
		const path = `/v1/custom-objects/${object.key}/records`;
		const fields = { [object.primary_field]: 'Press 7' };
		expect((await sandbox.call('POST', path, { custom_fields: fields })).status).toBe(201);
		await active.poll();
		expect(active.executions).toMatchObject([[{ type: `custom.${object.key}.created` }]]);
	});

	test('from the moment they were chosen', async () => {
		const active = await activated({ events: ['contact.created'] });
		await sandbox.call('POST', '/v1/companies', { name: 'Before' });
		await active.poll();
		const [kept] = await contacts(1);
		active.setup.parameters = { events: ['contact.created', 'company.created'] };
		await active.activate();
		await sandbox.call('POST', '/v1/companies', { name: 'After' });
		await active.poll();
		expect(active.executions).toMatchObject([
			[{ id: kept }],
			[{ data: { object: { name: 'After' } } }],
		]);
	});

	test('and none at all is a mistake the user is told of', async () => {
		await expect(activated({ events: [] })).rejects.toThrow('Choose at least one event');
		await expect(activated({ events: ['contact.exploded'] })).rejects.toThrow('contact.exploded');
	});
});

describe('a test by hand', () => {
	test('shows the latest events and moves nothing', async () => {
		const active = await activated({ events: ['contact.created'] });
		const ids = await contacts(7);
		await sandbox.call('POST', '/v1/companies', { name: 'Not chosen' });
		expect((await active.test()).map(({ id }) => id)).toEqual(ids.slice(-5));
		await active.poll();
		expect(active.ids).toEqual(ids);
	});

	test('shows records where only the record is wanted', async () => {
		const [id] = await contacts(1);
		const items = await poller({ output: 'record', events: ['contact.*'] }).test();
		expect(items.at(-1)).toMatchObject({ object: 'contact', event: { id, type: 'contact.created' } });
	});

	test('says so when there is nothing to show', async () => {
		await expect(poller({ events: ['ticket.solved'] }).test()).rejects.toThrow('None of the latest');
	});
});
