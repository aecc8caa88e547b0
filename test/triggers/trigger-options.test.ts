import type { IDataObject, INodeParameters, INodePropertyOptions } from 'n8n-workflow';

import { CrmPlatformTrigger } from '../../nodes/CrmPlatform/CrmPlatformTrigger.node';
import { getFilterFields, getFilterOperators } from '../../nodes/CrmPlatform/pickers/filterPickers';
import { getChangedFields, getEvents, getOwners, getPipelines, getStages } from '../../nodes/CrmPlatform/pickers/listOptions';
import { nodeRuns, picker } from '../support/node-runs.ts';
import { useTriggers } from '../support/open-triggers.ts';
import { create, update } from '../support/parameters.ts';
import { type Published, usePublished } from '../support/published-workflow.ts';
import { useSandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

const sandbox = useSandbox({ contacts: 5 });
const openWebhookTrigger = useTriggers(sandbox);
const { publish, saved } = usePublished(sandbox);
const itemsIn = (n8n: Published) => n8n.executions.flatMap(({ items }) => items);

const above = (value: number, more: object = {}) => ({ field: 'amount', operator: 'isMoreThan', value: String(value), ...more });
const onlyIf = (rows: object[], more: object = {}) => ({ filters: { onlyIf: { rows }, ...more } });
const deal = async (values: IDataObject) => (await sandbox.create('deals', { title: 'Only If', ...values })).id;
const change = async (id: string, values: IDataObject) => await sandbox.call('PATCH', `/v1/deals/${id}`, values);

/** Publishes a trigger on deals. @returns reads the items with which it has started executions */
const triggers: Record<string, (parameters: IDataObject) => Promise<() => IDataObject[]>> = {
	'CRM Platform Trigger': async (parameters) => {
		const trigger = await openWebhookTrigger({ events: ['deal.*'], output: 'record', ...parameters });
		return () => trigger.started;
	},
	'Poll Trigger': async (parameters) => {
		const events = ['deal.created', 'deal.updated', 'deal.deleted', 'deal.erased'];
		const published = await publish({ events, output: 'record', ...parameters });
		return () => itemsIn(published);
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

const { output } = nodeRuns(sandbox);

/** Writes as a node of `workflow-1` does: one record, several in a batch, and a change. */
async function writeInWorkflow(): Promise<void> {
	const [contact] = await output(create('contact', { last_name: 'Alone' }));
	await output(create('contact', { last_name: '={{ $json.name }}' }), [{ name: 'First' }, { name: 'Second' }]);
	await output(update('contact', String(contact!.id), { job_title: 'Buyer' }));
}

/** A write by somebody else, after the workflow's: once its event has arrived, so have all earlier ones. */
const writeOutside = async () => await sandbox.create('contacts', { last_name: 'Outside' });

const isOutside = (item: IDataObject) => JSON.stringify(item).includes('"Outside"');

async function publishAs(workflowId: string, parameters: IDataObject): Promise<Published> {
	const published = saved({ events: ['contact.*'], ...parameters });
	published.workflowId = workflowId;
	await published.activate();
	return published;
}

/** @param count of items to wait for: the events of a record wait for each other, those of others may overtake them */
async function itemsOf(published: Published, count = 1): Promise<IDataObject[]> {
	await until(() => itemsIn(published).some(isOutside) && itemsIn(published).length >= count);
	return itemsIn(published);
}

test('changes that a workflow has made do not start it again, and start the others', async () => {
	// Its n8n starts anew, and forgets the others.
	const webhook = await openWebhookTrigger({ events: ['contact.*'], filters: { ignore: ['workflow'] } });
	const writingWorkflow = await publishAs('workflow-1', { filters: { ignore: ['workflow'] } });
	const other = await publishAs('workflow-2', { filters: { ignore: ['workflow'] } });
	const ofN8n = await publishAs('workflow-3', { filters: { ignore: ['instance'] } });
	await writeInWorkflow();
	await writeOutside();
	expect(await itemsOf(writingWorkflow)).toHaveLength(1);
	expect(await itemsOf(ofN8n)).toHaveLength(1);
	await until(() => webhook.answers.length >= 5);
	expect(webhook.started.map(isOutside)).toEqual([true]);
	const causes = (await itemsOf(other, 5)).map(({ type, made_by: by }) => `${String(type)} ${String(by)}`);
	const byN8n = Array<string>(3).fill('contact.created this_n8n');
	expect(causes.sort()).toEqual(['contact.created other', ...byN8n, 'contact.updated this_n8n']);
});

test('what an undo restores does not start a workflow that ignores undos, and starts the others', async () => {
	const ignoring = await publishAs('workflow-2', { filters: { ignore: ['undo'] } });
	const other = await publishAs('workflow-3', {});
	const contact = await sandbox.create('contacts', { last_name: 'Before' });
	const executionId = 'undone';
	await output(update('contact', contact.id, { last_name: 'Changed' }), [{}], { executionId });
	await output({ resource: 'change', operation: 'undo', preview: false, undoOf: 'execution', undoId: executionId, since: '', options: {} });
	await writeOutside();
	expect(await itemsOf(other, 4)).toHaveLength(4);
	expect((await itemsOf(ignoring, 3)).map(({ type }) => type).sort()).toEqual(['contact.created', 'contact.created', 'contact.updated']);
});

test('records that a workflow has written do not start it again', async () => {
	const parameters = { source: 'records', resource: 'contact', simplify: false };
	const n8n = await publishAs('workflow-1', { ...parameters, options: { ignore: ['workflow'] } });
	const before = (await sandbox.read('contacts?limit=1')).total as number;
	await until(() => n8n.ids().length >= before);
	await writeInWorkflow();
	const { id } = await writeOutside();
	await until(() => n8n.ids().includes(id));
	expect(n8n.ids().slice(before)).toEqual([id]);
});

const addNames = { options: { addNames: true } };

let company: IDataObject;
const createDeals = async (count = 1) => {
	for (let i = 0; i < count; i++) await sandbox.create('deals', { title: `Deal ${i}`, company_id: company.id });
};
beforeAll(async () => {
	company = await sandbox.create('companies', { name: 'Altamira' });
});

test('names stand beside the IDs of linked records, one request for each kind and group', async () => {
	const n8n = await publish({ events: ['deal.created'], output: 'record', grouping: 'group', groupSize: 100, ...addNames });
	await n8n.deactivate();
	await createDeals(30);
	const before = (await sandbox.requests()).length;
	await n8n.activate();
	await until(() => itemsIn(n8n).length === 30);
	const named = { company_name: 'Altamira', stage_name: 'Qualified', event: { type: 'deal.created' } };
	for (const item of itemsIn(n8n)) expect(item).toMatchObject(named);
	expect((await sandbox.requests()).slice(before).filter(({ path }) => path === '/v1/companies')).toHaveLength(1);
});

test('a stage that is new since the names were read has its name', async () => {
	const n8n = await publish({ events: ['deal.created'], output: 'record', ...addNames });
	await createDeals();
	await until(() => itemsIn(n8n).length === 1);
	const stages = ['open', 'won', 'lost'].map((kind) => ({ name: `New ${kind}`, kind }));
	const pipeline = await sandbox.create('pipelines', { name: 'New', stages });
	await sandbox.create('deals', { title: 'In a new stage', pipeline_id: pipeline.id });
	await until(() => itemsIn(n8n).length === 2);
	expect(itemsIn(n8n).map(({ stage_name: name }) => name)).toEqual(['Qualified', 'New open']);
});

test.each([
	['simplified records have names unless the option is off', { source: 'records', resource: 'deal' }, true],
	['whole records have none unless the option is on', { source: 'records', resource: 'deal', simplify: false }, false],
	['nor have the records of events', { events: ['deal.created'], output: 'record' }, false],
])('%s', async (_, parameters, hasNames) => {
	const n8n = await publish(parameters);
	await createDeals();
	await until(() => itemsIn(n8n).length > 0);
	expect(Object.hasOwn(itemsIn(n8n)[0]!, 'stage_name')).toBe(hasNames);
});

test('the webhook trigger adds the same names', async () => {
	const trigger = await openWebhookTrigger({ events: ['deal.created'], output: 'record', ...addNames });
	await createDeals();
	await until(() => trigger.started.length > 0);
	expect(trigger.started).toMatchObject([{ stage_name: 'Qualified', event: { type: 'deal.created' } }]);
});

describe('lists to choose from', () => {
	const setup = () => ({ credential: sandbox.credential, parameters: {} });
	const values = (options: INodePropertyOptions[]) => options.map(({ value }) => String(value));

	test('the events to choose from are the CRM’s, by resource, each with its pattern first', async () => {
		const options = await picker(getEvents, setup());
		expect(options[0]).toMatchObject({ name: 'Every Event', value: '*' });
		const deals = values(options).filter((value) => value.startsWith('deal.'));
		expect(deals.slice(0, 2)).toEqual(['deal.*', 'deal.created']);
		expect(deals).toContain('deal.stage_changed');
		const first = values(options).indexOf('deal.*');
		expect(values(options).slice(first, first + deals.length)).toEqual(deals);
		expect(options).toContainEqual({ name: 'Deal Won', value: 'deal.won', description: 'A deal was won' });
		expect(options).toContainEqual(
			expect.objectContaining({ name: 'All Deal Events', value: 'deal.*' }),
		);
	});

	test('custom objects have events like other resources', async () => {
		const label = { label_singular: 'Boat', label_plural: 'Boats' };
		await sandbox.create('custom-objects', { key: 'boats', ...label, primary_field: 'name' });
		const options = await picker(getEvents, setup());
		const boats = options.filter(({ value }) => String(value).startsWith('custom.boats.'));
		expect(boats.map(({ name, value }) => [name, value])).toEqual([
			['All Boat Events', 'custom.boats.*'],
			['Boat Created', 'custom.boats.created'],
			['Boat Updated', 'custom.boats.updated'],
			['Boat Deleted', 'custom.boats.deleted'],
			['Boat Erased', 'custom.boats.erased'],
		]);
	});

	test('owners, pipelines and stages are chosen by name', async () => {
		const pipelines = await picker(getPipelines, setup());
		const stages = await picker(getStages, setup());
		expect(pipelines[0]).toMatchObject({ name: expect.any(String), value: expect.stringMatching(/^pip_/) });
		expect(stages[0]!.name).toMatch(new RegExp(`^${pipelines[0]!.name} – `));
		expect(await picker(getOwners, setup())).toContainEqual({
			name: expect.stringMatching(/ /),
			value: expect.stringMatching(/^usr_/),
		});
	});

	test('changed fields are those of the records that the chosen events are about, including custom fields', async () => {
		const changedFieldsOf = async (...events: string[]) =>
			(await picker(getChangedFields, { credential: sandbox.credential, parameters: { events }, node: new CrmPlatformTrigger() })).map(
				({ value }) => value,
			);
		const ofDeals = await changedFieldsOf('deal.*');
		expect(ofDeals).toEqual(expect.arrayContaining(['amount', 'stage_id']));
		expect(ofDeals).not.toContain('job_title');
		expect(ofDeals).not.toContain('updated_at');
		expect(await changedFieldsOf('contact.updated')).toEqual(expect.arrayContaining(['job_title', 'custom_fields']));
		await expect(changedFieldsOf('*')).rejects.toThrow('Choose events of one record type first.');
		await sandbox.create('custom-fields', { resource: 'deals', key: 'score', label: 'Score', type: 'number', read_only: true });
		expect(await changedFieldsOf('deal.updated')).toContain('custom_fields.score');
	});
});
