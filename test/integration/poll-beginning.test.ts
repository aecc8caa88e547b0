import { DateTime } from 'luxon';

import { eventsIn } from './poll-log.ts';
import { Poller } from './poller.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const { contacts, latest, advance, now } = eventsIn(sandbox);
const day = 24 * 60 * 60;

/** A trigger whose clock shows the service's time. */
async function poller(parameters = {}): Promise<Poller> {
	const poller = new Poller({ credential: sandbox.credential, parameters });
	await setClock(poller);
	return poller;
}

async function setClock({ setup }: Poller): Promise<void> {
	const time = await now();
	setup.clock = { now: () => time, sleep: async () => {}, random: () => 0.5 };
}

/** The service's date, as n8n's editor stores one: without a zone, meant in that of the workflow. */
const inEditor = (ms: number) =>
	DateTime.fromMillis(ms, { zone: 'America/Sao_Paulo' }).toFormat("yyyy-MM-dd'T'HH:mm:ss");

const since = async () => ({ start: 'date', since: inEditor((await now()) + 1_000) });

test('the events since a date start the workflow when it is activated, older ones do not', async () => {
	await contacts(2);
	await advance(day);
	const parameters = await since();
	await advance(60);
	const ids = await contacts(2);
	const active = await poller(parameters);
	await active.activate();
	expect(active.ids).toEqual(ids);
	await active.activate();
	expect(active.ids).toEqual(ids);
});

test('a date before which nothing is known begins with the oldest event', async () => {
	const active = await poller({ start: 'date', since: '2001-01-01T00:00:00' });
	await active.activate();
	expect(active.ids).toEqual((await latest(500)).map(({ id }) => id));
});

test('a date to come begins with what happens next', async () => {
	const active = await poller({ start: 'date', since: '2999-01-01T00:00:00' });
	await active.activate();
	const ids = await contacts(1);
	await active.poll();
	expect(active.ids).toEqual(ids);
});

test('another date begins there, to have events once more', async () => {
	const parameters = await since();
	await advance(60);
	const ids = await contacts(2);
	const active = await poller();
	await active.activate();
	expect(active.ids).toEqual([]);
	active.setup.parameters = parameters;
	await active.activate();
	expect(active.ids).toEqual(ids);
});

test('a date that is none is a mistake the user is told of', async () => {
	const active = await poller({ start: 'date', since: 'tomorrow' });
	await expect(active.activate()).rejects.toThrow("'tomorrow' is not a date");
});

describe('when n8n was down', () => {
	test('for longer than the service keeps events, the user is told that some may be missing', async () => {
		const active = await poller();
		await contacts(1);
		await active.activate();
		await contacts(2);
		await advance(31 * day);
		const ids = await contacts(2);
		await setClock(active);
		await active.activate();
		await active.poll();
		expect(active.reported).toEqual([expect.stringContaining('Events may be missing')]);
		expect(active.ids).toEqual(ids);
	});

	test('for long, and the service still has everything, nobody is told anything', async () => {
		const active = await poller();
		await contacts(1);
		await active.activate();
		await advance(20 * day);
		const ids = await contacts(2);
		await setClock(active);
		await active.activate();
		expect(active.reported).toEqual([]);
		expect(active.ids).toEqual(ids);
	});

	test('and nothing has happened for longer than events are kept, nothing is missing', async () => {
		const active = await poller();
		await contacts(1);
		await active.activate();
		await advance(40 * day);
		const ids = await contacts(1);
		await setClock(active);
		await active.activate();
		expect(active.reported).toEqual([]);
		expect(active.ids).toEqual(ids);
	});
});

describe('when the log is not the one that was read before', () => {
	const another = async (event: object) =>
		await sandbox.faults({
			path: '/v1/events',
			times: 1,
			status: 200,
			contentType: 'application/json',
			body: JSON.stringify({ data: [event], next_cursor: null, total: 1 }),
		});

	test('because it is another account’s, reading begins there', async () => {
		const active = await poller();
		await contacts(1);
		await active.activate();
		await contacts(1);
		const [newest] = await latest(1);
		await another({ ...newest, account_id: 'acc_other' });
		await active.poll();
		expect(active.executions).toEqual([]);
		expect(active.reported).toEqual([]);
	});

	test('because it counts anew, the user is told that some may be missing', async () => {
		const active = await poller();
		await contacts(1);
		await active.activate();
		const [newest] = await latest(1);
		await another({ ...newest, sequence: 0 });
		await active.poll();
		expect(active.reported).toEqual([expect.stringContaining('Events may be missing')]);
	});
});
