import { eventsIn } from './poll-log.ts';
import { Poller } from './poller.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const { contacts } = eventsIn(sandbox);

const poller = (parameters = {}) => new Poller({ credential: sandbox.credential, parameters });

const activated = async (parameters = {}) => {
	const active = poller(parameters);
	await active.activate();
	return active;
};

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

	test('and a filter holds from the moment it was changed', async () => {
		const active = await activated({ filters: { owners: ['usr_none'] } });
		await contacts(1);
		await active.poll();
		active.setup.parameters = {};
		await active.activate();
		const ids = await contacts(1);
		await active.poll();
		expect(active.ids).toEqual(ids);
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
