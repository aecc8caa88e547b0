import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { CrmPlatformTrigger } from '../../nodes/CrmPlatform/CrmPlatformTrigger.node';
import { getFilterFields, getFilterOperators } from '../../nodes/CrmPlatform/pickers/filterPickers';
import { picker } from '../support/node-runs.ts';
import { useTriggers } from '../support/open-triggers.ts';
import { usePublished } from '../support/published-workflow.ts';
import { useSandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

const sandbox = useSandbox({ contacts: 5 });
const openWebhookTrigger = useTriggers(sandbox);
const { publish } = usePublished(sandbox);

const above = (value: number, more: object = {}) => ({ field: 'amount', operator: 'isMoreThan', value: String(value), ...more });
const onlyIf = (rows: object[], more: object = {}) => ({ filters: { onlyIf: { rows }, ...more } });
const deal = async (values: IDataObject) => (await sandbox.create('deals', { title: 'Only If', ...values })).id;
const change = async (id: string, values: IDataObject) => await sandbox.call('PATCH', `/v1/deals/${id}`, values);

/** Publishes a trigger on deals. @returns the amounts, or other values, of the items that it has started */
const triggers: Record<string, (parameters: IDataObject) => Promise<() => IDataObject[]>> = {
	'CRM Platform Trigger': async (parameters) => {
		const trigger = await openWebhookTrigger({ events: ['deal.*'], output: 'record', ...parameters });
		return () => trigger.started;
	},
	'Poll Trigger': async (parameters) => {
		const events = ['deal.created', 'deal.updated', 'deal.deleted', 'deal.erased'];
		const published = await publish({ events, output: 'record', ...parameters });
		return () => published.executions.flatMap(({ items }) => items);
	},
};

describe.each(Object.keys(triggers))('Only If of the %s', (name) => {
	test('starts for records that meet the conditions, with names as in Get Many, or those of another group', async () => {
		const [owner] = await sandbox.list('users?limit=1');
		const rows = [above(10_000), { field: 'owner_id', operator: 'is', value: owner!.name }, above(50_000, { join: 'or' })];
		const started = await triggers[name]!(onlyIf(rows));
		const deals = [[9_000, owner!.id], [20_000, null], [20_001, owner!.id], [60_000, null]];
		for (const [amount, owner_id] of deals) await deal({ amount, owner_id });
		await until(() => started().some(({ amount }) => amount === 60_000));
		expect(started().map(({ amount }) => amount).sort()).toEqual([20_001, 60_000]);
	});

	test('starts once for a record that comes to meet them', async () => {
		const started = await triggers[name]!(onlyIf([above(10_000)], { becomesTrue: true }));
		const id = await deal({ amount: 5_000 });
		await change(id, { amount: 20_000 });
		await change(id, { amount: 30_000 });
		await sandbox.call('DELETE', `/v1/deals/${id}`);
		await deal({ amount: 40_000 });
		await until(() => started().some(({ amount }) => amount === 40_000));
		expect(started().map(({ amount }) => amount).sort()).toEqual([20_000, 40_000]);
	});

	test('starts for an event that cannot be decided, and says so', async () => {
		const started = await triggers[name]!(onlyIf([above(10_000)], { owners: ['usr_other'] }));
		const id = await deal({ amount: 1 });
		await sandbox.call('DELETE', `/v1/deals/${id}?permanent=true`);
		const isErasure = ({ event }: IDataObject) => (event as IDataObject).type === 'deal.erased';
		await until(() => started().some(isErasure));
		expect(started().find(isErasure)).toMatchObject({ id, event: { only_if: 'undecided' } });
	});

	test('is refused for events of several record types, since each has other fields', async () => {
		const publishing = triggers[name]!({ ...onlyIf([above(1)]), events: ['deal.*', 'contact.created'] });
		await expect(publishing).rejects.toThrow('Only If needs events of one record type');
	});

	test('is not published with changed fields that no record of the events has', async () => {
		const filters = { changedFields: ['email', 'amuont', 'address.city'] };
		const publishing = triggers[name]!({ events: ['deal.*', 'contact.updated'], filters });
		await expect(publishing).rejects.toThrow('do not have amuont, so the workflow would never start');
	});
});

test('links and custom fields are decided as Get Many decides them, and values that the CRM would refuse are refused', async () => {
	const start = triggers['Poll Trigger']!;
	await sandbox.create('custom-fields', { resource: 'deals', key: 'mail', label: 'Mail', type: 'email' });
	const [main, other] = (await sandbox.list('contacts?limit=2')).map(({ id }) => String(id));
	const is = (field: string, value: string) => ({ field, operator: 'is', value });
	const started = await start(onlyIf([is('contact_id', main!), { ...is('custom_fields.mail', 'A@X.example'), join: 'or' }]));
	const of = (values: IDataObject) => ({ contact_id: other, custom_fields: { mail: 'b@x.example' }, ...values });
	for (const values of [{ contact_ids: [main] }, { contact_id: main }, { custom_fields: { mail: 'a@x.example' } }]) await deal(of(values));
	await until(() => started().length === 2);
	expect(started().map(({ contact_id }) => contact_id)).toEqual([main, other]);
	for (const { event } of started()) expect(event).not.toHaveProperty('only_if');
	await expect(start(onlyIf([is('currency', 'eur')]))).rejects.toThrow('Only If: Currency: “eur” is not in the format');
});

test('the form offers the fields of the records that the events are about', async () => {
	const opened = (events: string[]) => ({
		credential: sandbox.credential,
		node: new CrmPlatformTrigger(),
		path: 'parameters.filters.onlyIf.rows[0].operator',
		parameters: { events, ...onlyIf([{ field: 'amount', operator: 'is' }]) } as unknown as INodeParameters,
	});
	const offered = async (method: typeof getFilterFields) => (await picker(method, opened(['deal.won']))).map(({ value }) => value);
	expect(await offered(getFilterFields)).toEqual(expect.arrayContaining(['amount', 'stage_id']));
	expect(await offered(getFilterOperators)).toContain('isMoreThan');
	await expect(picker(getFilterFields, opened(['deal.won', 'contact.*']))).rejects.toThrow('Choose events of one record type first.');
});
