import { eventsIn } from '../../support/poll-log.ts';
import { usePublished } from '../../support/published-workflow.ts';
import { useSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const sandbox = useSandbox({ contacts: 0 });
const log = eventsIn(sandbox);
const { publish } = usePublished(sandbox);

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

test('a log that the credential may not read is reported, and read as soon as it may be', async () => {
	const n8n = await publish();
	const refusal = {
		path: '/v1/events', status: 403, contentType: 'application/problem+json', body: JSON.stringify({ status: 403, title: 'Forbidden' }),
	};
	await sandbox.faults({ ...refusal, times: 10_000 });
	await until(() => n8n.reported.length > 0);
	await sandbox.faults();
	const ids = await log.contacts(2);
	await until(() => n8n.ids().length >= 2);
	expect(n8n.ids()).toEqual(ids);
	expect(n8n.reported).toHaveLength(1);
});

test('types of a deleted custom object do not stop other events, are reported once, and cause no refused request each time', async () => {
	const label = { label_singular: 'Car', label_plural: 'Cars' };
	const { body } = await sandbox.call('POST', '/v1/custom-objects', { key: 'cars', ...label, primary_field: 'name' });
	const n8n = await publish({ events: ['contact.created', 'custom.cars.created'] });
	await log.contacts(1);
	await until(() => n8n.ids().length >= 1);
	await sandbox.call('DELETE', `/v1/custom-objects/${String(body.id ?? 'cars')}`);
	await sandbox.call('DELETE', '/v1/custom-objects/cars');
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
