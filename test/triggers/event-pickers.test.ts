import { CrmPlatformTrigger } from '../../nodes/CrmPlatform/CrmPlatformTrigger.node';
import type { INodePropertyOptions } from 'n8n-workflow';

import { getChangedFields, getEvents, getOwners, getPipelines, getStages } from '../../nodes/CrmPlatform/pickers/listOptions';
import { picker } from '../support/node-runs.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
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
	const { status } = await sandbox.call('POST', '/v1/custom-objects', {
		key: 'boats',
		label_singular: 'Boat',
		label_plural: 'Boats',
		primary_field: 'name',
	});
	expect(status).toBe(201);
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
