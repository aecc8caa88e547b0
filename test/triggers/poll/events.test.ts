import type { IDataObject } from 'n8n-workflow';

import { systemClock } from '../../../nodes/CrmPlatform/base/clock';
import { startSignInSandbox } from '../../support/oauth2.ts';
import { eventsIn } from '../../support/poll-log.ts';
import { type Published, usePublished } from '../../support/published-workflow.ts';
import { useSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const sandbox = useSandbox({ contacts: 0 });
const log = eventsIn(sandbox);
const { publish, saved } = usePublished(sandbox);
const doneWhen = ['started', 'ended', 'succeeded'];

test.each(doneWhen)('each event starts one execution, in sequence (%s)', async (when) => {
	await log.contacts(2);
	const n8n = await publish({ doneWhen: when });
	const ids = await log.contacts(30);
	await until(() => n8n.ids().length >= 30);
	expect(n8n.ids()).toEqual(ids);
	expect(n8n.executions).toHaveLength(30);
});

test('no more executions run at once than the user allows', async () => {
	let [running, maxRunning] = [0, 0];
	const execute = async () => {
		maxRunning = Math.max(maxRunning, (running += 1));
		await new Promise((resolve) => setTimeout(resolve, 5));
		running -= 1;
		return 'success' as const;
	};
	const n8n = await publish({ options: { atOnce: 3 } }, { execute });
	await log.contacts(30);
	await until(() => n8n.ids().length >= 30);
	expect(maxRunning).toBe(3);
});

test('an event that waits for a retry is retried, with the new output, after other events and another output were chosen', async () => {
	let fails = true;
	const execute = async () => (fails ? ('error' as const) : ('success' as const));
	const parameters = { doneWhen: 'succeeded', attempts: 10_000 };
	const n8n = await publish(parameters, { execute });
	const ids = await log.contacts(5);
	await until(() => n8n.executions.length >= 5);
	await n8n.deactivate();
	n8n.setup.parameters = { ...parameters, events: ['company.created'], output: 'record' };
	await n8n.activate();
	n8n.kill();
	await n8n.activate();
	fails = false;
	await until(() => n8n.ids().length >= 5);
	expect(n8n.ids().sort()).toEqual([...ids].sort());
	expect(n8n.executions.at(-1)!.items[0]).toMatchObject({ object: 'contact', event: { type: 'contact.created' } });
	expect(n8n.reported).toEqual([]);
});

test('an idle poll is one request of one event', async () => {
	const n8n = await publish();
	await log.contacts(3);
	await until(() => n8n.ids().length >= 3);
	const isLook = (query: string) => /\blimit=1\b/.test(query) && !query.includes('sequence%5Bgt%5D');
	await until(async () => (await sandbox.requests()).slice(-5).every(({ query }) => isLook(query)));
	const response = await sandbox.call('GET', '/v1/events?sort=-sequence&limit=1');
	// 240 of them an hour stay below 1 MB.
	expect(JSON.stringify(response.body).length).toBeLessThan(3_500);
});

/** The requests for events of certain types. */
const typed = async () => (await sandbox.requests()).filter(({ query }) => query.includes('type='));

test('types of a deleted custom object do not stop other events, are reported once, and cause no refused request each time', async () => {
	const label = { label_singular: 'Car', label_plural: 'Cars' };
	const { id } = await sandbox.create('custom-objects', { key: 'cars', ...label, primary_field: 'name' });
	const n8n = await publish({ events: ['contact.created', 'custom.cars.created'] });
	await log.contacts(1);
	await until(() => n8n.ids().length >= 1);
	await sandbox.call('DELETE', `/v1/custom-objects/${id}`);
	const ids = await log.contacts(2);
	await until(() => n8n.ids().length >= 3);
	expect(n8n.ids().slice(1)).toEqual(ids);
	const before = (await typed()).length;
	ids.push(...(await log.contacts(2)));
	await until(() => n8n.ids().length >= 5);
	expect(n8n.ids().slice(1)).toEqual(ids);
	expect(n8n.reported).toEqual([expect.stringContaining('refuses at least one of the event types contact.created, custom.cars.created')]);
	expect((await typed()).length).toBe(before);
});

const day = 24 * 60 * 60;

/** Activates a trigger with a fast clock that starts at the service's time, and short waits. */
async function activate(n8n: Published): Promise<void> {
	const start = Date.parse(String((await sandbox.call('GET', '/_sandbox/clock')).body.now));
	const begun = Date.now();
	n8n.setup.clock = {
		...systemClock,
		now: () => start + (Date.now() - begun) * 100,
		sleep: async (ms, signal) => await systemClock.sleep(Math.min(ms, 20), signal),
	};
	await n8n.activate();
}

const arrived = async (n8n: Published, count: number) => await until(() => n8n.ids().length >= count);

test.each([[31, [expect.stringContaining('Events may be missing')]], [20, []]])(
	'the user is warned if n8n was down for longer than the CRM keeps events (%i days)',
	async (days, reports) => {
		const n8n = saved();
		await activate(n8n);
		await log.contacts(1);
		await arrived(n8n, 1);
		await n8n.deactivate();
		const before = await log.contacts(2);
		await sandbox.advance(days * day);
		const ids = [...(days > 30 ? [] : before), ...await log.contacts(2)];
		await activate(n8n);
		await arrived(n8n, 1 + ids.length);
		expect([n8n.ids().slice(1), n8n.reported]).toEqual([ids, reports]);
	},
);

test('a test by hand shows records with their events, unless something else is chosen, and reports if there are none', async () => {
	const [id] = await log.contacts(1);
	const shows = async (parameters: IDataObject) => await saved(parameters).test();
	const items = await shows({ output: undefined, events: ['contact.*'] });
	expect(items.at(-1)).toMatchObject({ object: 'contact', event: { id, type: 'contact.created' } });
	await expect(shows({ events: ['ticket.solved'] })).rejects.toThrow('None of the latest');
});

test('a changed credential that does not work is reported once, even if the earlier one still does', async () => {
	const credential = { ...sandbox.credential };
	const n8n = saved({}, { credential });
	await activate(n8n);
	credential.apiKey = 'wrong';
	await until(async () => (await sandbox.requests()).filter(({ status }) => status === 401).length >= 12);
	expect(n8n.reported).toHaveLength(1);
});

test('a signed-in user gets the events of records that they see, and stays signed in', async () => {
	const service = await startSignInSandbox();
	try {
		const call = async (method: string, path: string, body?: object) =>
			(await service.call(service.apiKey, method, path, body)).body;
		const { data: users } = await call('GET', '/v1/users?limit=50');
		const create = async (last_name: string, owner_id: string) =>
			await call('POST', '/v1/contacts', { last_name, owner_id });
		const scope = 'contacts:read events:read users:read';
		const credential = await service.credential({ role: 'member', scope });
		const { access_token: token } = credential.data.oauthTokenData as { access_token: string };
		const { id } = (await service.call(token, 'GET', '/v1/users/me')).body;
		const other = users.find((user: { id: string }) => user.id !== id);
		const n8n = saved({ events: ['contact.*'] }, { credential, clock: systemClock });
		await n8n.activate();
		await create('Theirs', other.id);
		service.expire();
		await create('Mine', id);
		await arrived(n8n, 1);
		expect(n8n.executions.map(({ items }) => items[0])).toMatchObject([{ data: { object: { last_name: 'Mine' } } }]);
		expect(n8n.reported).toEqual([]);
		await n8n.deactivate();
	} finally {
		await service.close();
	}
});
