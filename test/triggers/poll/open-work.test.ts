import type { IDataObject } from 'n8n-workflow';

import { eventsIn } from '../../support/poll-log.ts';
import { usePublished, type Published } from '../../support/published-workflow.ts';
import { useSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const sandbox = useSandbox({ contacts: 0 });
const log = eventsIn(sandbox);
const { publish } = usePublished(sandbox);

async function choose(n8n: Published, ...choices: IDataObject[]): Promise<void> {
	for (const parameters of choices) {
		await n8n.deactivate();
		n8n.setup.parameters = parameters;
		await n8n.activate();
	}
}

test('an event that waits for a retry is retried as it was after other events and another output were chosen', async () => {
	let fails = true;
	const execute = async () => (fails ? ('error' as const) : ('success' as const));
	const parameters = { doneWhen: 'succeeded', attempts: 10_000 };
	const n8n = await publish(parameters, { execute });
	const ids = await log.contacts(5);
	await until(() => n8n.executions.length >= 5);
	await choose(n8n, { ...parameters, events: ['company.created'], output: 'record' });
	n8n.kill();
	await n8n.activate();
	fails = false;
	await until(() => n8n.ids().length >= 5);
	expect(n8n.ids().sort()).toEqual([...ids].sort());
	expect(n8n.executions.at(-1)!.items[0]).toMatchObject({ type: 'contact.created', data: { object: {} } });
	expect(n8n.reported).toEqual([]);
});

test.each([403, 500])('a record answered with %i delays no other record, and is reported', async (status) => {
	const n8n = await publish({ output: 'current', events: ['contact.created'] });
	await n8n.deactivate();
	const ids = await log.contacts(12);
	const contacts = await sandbox.list('events?sort=-sequence&limit=12');
	const bad = contacts.find(({ id }) => id === ids[3])!;
	const path = `/v1/contacts/${String((bad.data as { object: IDataObject }).object.id)}`;
	await sandbox.faults({ path, times: 10_000, status });
	await n8n.activate();
	await until(() => n8n.ids().length >= 11 && n8n.reported.length > 0);
	expect(n8n.ids().sort()).toEqual(ids.filter((id) => id !== ids[3]).sort());
	expect(n8n.reported.join()).toMatch(status === 403 ? /was set aside and started no execution/ : /could not be read yet/);
	await sandbox.faults();
	if (status === 500) await until(() => n8n.ids().length >= 12);
});
