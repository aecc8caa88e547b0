import type { IDataObject } from 'n8n-workflow';

import { eventsIn } from '../../support/poll-log.ts';
import { usePublished, type Published } from '../../support/published-workflow.ts';
import { useSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const sandbox = useSandbox({ contacts: 0 });
const log = eventsIn(sandbox);
const { publish } = usePublished(sandbox);

/** Executions that wait until the gate opens. */
function createGate() {
	const gate = { isOpen: false };
	const execute = async () => {
		await until(() => gate.isOpen);
		return 'success' as const;
	};
	return { gate, execute };
}

async function choose(n8n: Published, ...choices: IDataObject[]): Promise<void> {
	for (const parameters of choices) {
		await n8n.deactivate();
		n8n.setup.parameters = parameters;
		await n8n.activate();
	}
}

const company = async (name: string) => await sandbox.create('companies', { name });
const names = ({ executions }: Published) =>
	executions.flatMap(({ items }) =>
		items.flatMap(({ type, data }) => (type === 'company.created' ? [(data as { object: IDataObject }).object.name] : [])),
	);

test('after the choice of events was replaced, events from before start by the old choice, read ahead or not', async () => {
	const { gate, execute } = createGate();
	const n8n = await publish({ options: { atOnce: 1 } }, { execute });
	const ids = await log.contacts(80);
	await company('Before');
	await until(() => n8n.executions.length > 0);
	await choose(n8n, { events: ['company.created'], options: { atOnce: 1 } });
	await company('After');
	await log.contacts(1);
	gate.isOpen = true;
	await until(() => n8n.ids().length >= 81);
	expect(n8n.ids().filter((id) => ids.includes(id)).sort()).toEqual([...ids].sort());
	expect(names(n8n)).toEqual(['After']);
	expect(n8n.reported).toEqual([]);
});

test('two consecutive changes of the choice start nothing that was never chosen', async () => {
	const n8n = await publish();
	await n8n.deactivate();
	await company('Unchosen');
	const ids = await log.contacts(5);
	await choose(n8n, { events: ['company.created', 'contact.created'] }, { events: ['company.*', 'contact.created'] });
	await company('Chosen');
	await until(() => n8n.ids().length >= 6);
	expect(n8n.ids().slice(0, 5)).toEqual(ids);
	expect(names(n8n).at(-1)).toBe('Chosen');
	expect(n8n.executions).toHaveLength(6);
});

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

test('a group whose events are far apart is the same at its second attempt, even in another process', async () => {
	let fails = true;
	const execute = async () => (fails ? ('error' as const) : ('success' as const));
	const parameters = { events: ['company.created'], grouping: 'group', doneWhen: 'succeeded', attempts: 10_000 };
	const n8n = await publish(parameters, { execute });
	await n8n.deactivate();
	for (let i = 0; i < 3; i++) {
		await company(`Company ${i}`);
		await log.contacts(700);
	}
	await n8n.activate();
	await until(() => n8n.executions.length >= 1);
	n8n.kill();
	fails = false;
	await n8n.activate();
	await until(() => n8n.ids().length >= 3);
	expect(names(n8n).slice(-3)).toEqual(['Company 0', 'Company 1', 'Company 2']);
});

test('an event of an open group that is no longer in the log is set aside and reported, and the others start', async () => {
	const { gate, execute } = createGate();
	const parameters = { grouping: 'group', doneWhen: 'succeeded', attempts: 10_000, options: { atOnce: 1 } };
	const n8n = await publish(parameters, { execute });
	// All of them are in one group, however slowly they are created.
	await n8n.deactivate();
	const ids = await log.contacts(3);
	await n8n.activate();
	await until(() => n8n.executions.length === 1);
	n8n.kill();
	gate.isOpen = true;
	// The service responds as if it had forgotten one of the events.
	n8n.storedStaticData = n8n.storedStaticData.replaceAll(ids[1]!, 'evt_gone');
	await n8n.activate();
	await until(() => n8n.ids().length >= 2 && n8n.reported.length > 0);
	expect(n8n.ids().slice(0, 2)).toEqual([ids[0], ids[2]]);
	expect(n8n.reported.join()).toMatch(/evt_gone was set aside and started no execution: the event log no longer has it/);
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

test('in a group, a record answered with 403 does not hold up the others', async () => {
	const n8n = await publish({ output: 'current', grouping: 'group' });
	await n8n.deactivate();
	const ids = await log.contacts(12);
	const [event] = await sandbox.list('events?sort=-sequence&limit=1');
	const path = `/v1/contacts/${String((event!.data as { object: IDataObject }).object.id)}`;
	await sandbox.faults({ path, times: 10_000, status: 403 });
	await n8n.activate();
	await until(() => n8n.ids().length >= 11 && n8n.reported.length > 0);
	expect(n8n.ids()).toEqual(ids.slice(0, -1));
	expect(n8n.reported.join()).toContain(`The event ${ids.at(-1)} was set aside`);
	await sandbox.faults();
});

test('one record whose executions fail does not stop the events of the others', async () => {
	const contact = await sandbox.create('contacts', { last_name: 'Poison' });
	const execute = async ([item]: IDataObject[]) => {
		const { object } = item!.data as { object: IDataObject };
		return object.id === contact.id ? ('error' as const) : ('success' as const);
	};
	const n8n = await publish({ events: ['contact.*'], doneWhen: 'succeeded', attempts: 10_000 }, { execute });
	for (let i = 0; i < 60; i++) await sandbox.call('PATCH', `/v1/contacts/${contact.id}`, { job_title: `${i}` });
	const ids = await log.contacts(10);
	await until(() => n8n.ids().length >= 10);
	expect(n8n.ids().sort()).toEqual([...ids].sort());
});

test('a workflow that another n8n exported with its static data starts with its own position', async () => {
	const n8n = await publish();
	await log.contacts(3);
	await until(() => n8n.ids().length >= 3);
	await n8n.deactivate();
	n8n.kill();
	await log.contacts(3);
	n8n.storedStaticData = n8n.storedStaticData.replace(/"instance":"[^"]*"/, '"instance":"another"');
	n8n.executions.splice(0);
	await n8n.activate();
	const [id] = await log.contacts(1);
	await until(() => n8n.ids().length >= 1);
	expect(n8n.ids()).toEqual([id]);
});
