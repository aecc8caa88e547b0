import type { IDataObject } from 'n8n-workflow';

import { editorMethods } from '../../nodes/CrmPlatform/pickers/editorMethods';
import { getMatchFields, getRecordTypes } from '../../nodes/CrmPlatform/pickers/listOptions';
import { getFields } from '../../nodes/CrmPlatform/pickers/mapperFields';
import { searchPipelines, searchRecords, searchStages, searchUsers } from '../../nodes/CrmPlatform/pickers/searchPickers';
import { alteredService } from '../support/altered-service.ts';
import { picker } from '../support/node-runs.ts';
import { fieldsById, openedNodes } from '../support/opened-nodes.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 130 });
const service = alteredService(sandbox);
const setup = openedNodes(sandbox);

describe('the fields to map', () => {
	test('have labels that tell how a value is written', async () => {
		const fields = fieldsById((await picker(getFields, setup())).fields);
		expect(fields.emails?.displayName).toBe('Emails (JSON)');
		expect(fields.tag_ids?.displayName).toBe('Tags: comma-separated');
		expect(fields['custom_fields.interests']?.displayName).toBe('Interests: comma-separated');
		expect(fields['custom_fields.renewal_date']).toMatchObject({ displayName: 'Renewal Date (Y-M-D)', type: 'string' });
		expect(fields.custom_fields).toBeUndefined();
	});

	test('to match on are the unique ones', async () => {
		const [first, ...others] = await picker(getMatchFields, setup('contact', 'upsert'));
		expect(first).toEqual({ name: 'Default (Email)', value: '' });
		expect(others).toEqual(
			expect.arrayContaining([
				{ name: 'Email', value: 'email' },
				{ name: 'External ID', value: 'external_id' },
				{ name: 'Customer Number', value: 'custom_fields.customer_number' },
			]),
		);
		const { fields } = await picker(getFields, setup('contact', 'upsert'));
		for (const { value } of others) expect(fieldsById(fields)[String(value)]).toMatchObject({ removed: false });
	});
});

test('records of a custom object have fields once the object is chosen', async () => {
	const { getFields: method } = editorMethods.resourceMapping;
	const unchosen = await picker(async (n8n) => await method!.call(n8n), setup('customObjectRecord'));
	expect(unchosen).toEqual({ fields: [], emptyFieldsNotice: 'Choose the custom object first.' });
});

describe('the list of records', () => {
	test('is searched by the CRM', async () => {
		await sandbox.create('contacts', { first_name: 'Zenobia', last_name: 'Quux', email: 'zenobia@pickers.example' });
		const { results } = await picker(searchRecords, setup(), 'zenobia');
		expect(results).toMatchObject([{ name: 'Zenobia Quux – zenobia@pickers.example' }]);
	});

	test('distinguishes records with the same title, the newest first', async () => {
		const { id } = await sandbox.create('companies', { name: 'Quux Ltd' });
		const [pipeline] = await sandbox.list('pipelines');
		const [stage] = pipeline?.stages as IDataObject[];
		const deal = { title: 'Migration', pipeline_id: pipeline?.id, stage_id: stage?.id };
		const createdIds: unknown[] = [];
		for (const more of [{ company_id: id }, { amount: 1200, currency: 'EUR' }, {}, {}]) {
			const { body } = await sandbox.call('POST', '/v1/deals', { ...deal, ...more });
			expect(body).toHaveProperty('id');
			createdIds.unshift(body.id);
		}
		const { results } = await picker(searchRecords, setup('deal'), 'Migration');
		const ours = results.filter(({ value }) => createdIds.includes(value as string));
		expect(ours.map(({ value }) => value)).toEqual(createdIds);
		const names = ours.map(({ name }) => name);
		expect(names[3]).toContain('Migration – Quux Ltd');
		expect(names[2]).toContain('1,200 EUR');
		expect(names[0]).toMatch(/ – \d{4}-\d\d-\d\d \d\d:\d\d$/);
	});

	test('continues where it ended', async () => {
		const first = await picker(searchRecords, setup());
		const second = await picker(searchRecords, setup(), undefined, first.paginationToken as string);
		const ids = [...first.results, ...second.results].map(({ value }) => value);
		expect(first.results).toHaveLength(100);
		expect(new Set(ids).size).toBe(ids.length);
		expect(second.paginationToken).toBeUndefined();
	});
});

describe('records that an operation needs by name', () => {
	const moving = (more = {}) => ({
		...setup('deal', 'moveToStage'),
		parameters: { resource: 'deal', operation: 'moveToStage', ...more },
	});

	test('are users and pipelines, searched by the CRM', async () => {
		const users = await picker(searchUsers, setup('ticket', 'assign'), 'keller');
		expect(users.results).toMatchObject([{ name: expect.stringContaining('Keller') }]);
		expect((await picker(searchPipelines, moving())).results.length).toBeGreaterThan(0);
	});

	test('are the stages of the chosen pipeline, or of each', async () => {
		const all = (await picker(searchStages, moving())).results;
		const pipelines = (await picker(searchPipelines, moving())).results;
		const first = pipelines.find(({ name }) => all.some((stage) => stage.name.startsWith(`${name} – Won`)));
		const pipelineId = { __rl: true, mode: 'list', value: first?.value ?? '' };
		const pipelineStages = (await picker(searchStages, moving({ pipelineId }))).results;
		expect(pipelineStages.length).toBeGreaterThan(2);
		expect(all.filter(({ name }) => name.startsWith(`${first?.name} – `))).toHaveLength(pipelineStages.length);
		const won = (await picker(searchStages, moving({ pipelineId }), 'won')).results;
		expect(won.map(({ value }) => value)).toEqual([expect.any(String)]);
		// A service may number its records.
		service.edit(({ body }) => (body.data as IDataObject[]).forEach((pipeline, i) => (pipeline.id = i)));
		const numbered = { ...moving({ pipelineId: { ...pipelineId, value: '0' } }), credential: service.credential };
		expect((await picker(searchStages, numbered)).results.length).toBeGreaterThan(2);
	});
});

test('a list that depends on a choice names it, where n8n would show an error', async () => {
	const { getSyncMatchFields } = editorMethods.loadOptions;
	const opened = { ...setup(), parameters: { resource: 'customObjectRecord', operation: 'sync' } };
	const listed = await picker(async (n8n) => await getSyncMatchFields!.call(n8n), opened);
	expect(listed).toEqual([{ name: 'Choose the custom object first.', value: '' }]);
});

test('the record types of an agent lack custom objects only if the credential may not read them', async () => {
	const offered = async (status: number) => {
		await sandbox.faults({ path: '/v1/custom-objects', times: 10, status });
		return await picker(getRecordTypes, setup());
	};
	expect((await offered(403)).map(({ value }) => value)).toContain('deal');
	await expect(offered(422)).rejects.toThrow();
});

describe('fields that refer to other records', () => {
	const records = async (path: string) => await sandbox.list(`${path}?limit=500`);

	test('are lists if there are few records', async () => {
		const fields = fieldsById((await picker(getFields, setup('contact', 'create'))).fields);
		const users = await records('users');
		const options = fields.owner_id?.options ?? [];
		expect(fields.owner_id).toMatchObject({ displayName: 'Owner', type: 'options' });
		expect(options.map(({ value }) => value).sort()).toEqual(users.map(({ id }) => id).sort());
		expect(options[0]?.name).not.toBe(options[0]?.value);
	});

	test('take a name or an id if there are many records', async () => {
		const fields = fieldsById((await picker(getFields, setup('ticket', 'create'))).fields);
		expect(fields.contact_id).toMatchObject({ displayName: 'Contact', type: 'string', removed: false });
		expect(fields.contact_id?.options).toBeUndefined();
	});

	test('take an id if the records cannot be read', async () => {
		await sandbox.faults({ path: '/v1/users', status: 403 });
		const fields = fieldsById((await picker(getFields, setup('contact', 'create'))).fields);
		expect(fields.owner_id).toMatchObject({ displayName: 'Owner', type: 'string' });
		expect(fields.company_id?.options?.length).toBeGreaterThan(0);
	});

	test('offer the stages of every pipeline, by its name', async () => {
		const [pipeline] = await records('pipelines');
		const [stage] = pipeline?.stages as IDataObject[];
		const option = { name: `${String(pipeline?.name)} – ${String(stage?.name)}`, value: stage?.id };
		const fields = fieldsById((await picker(getFields, setup('deal', 'create'))).fields);
		expect(fields.stage_id?.options).toContainEqual(option);
	});

	test('are read once', async () => {
		await picker(getFields, setup('deal', 'create'));
		const requestedPaths = (await sandbox.requests()).map(({ path }) => path);
		expect(new Set(requestedPaths).size).toBe(requestedPaths.length);
	});
});

test('custom fields of a custom object come first in its form, which shows them', async () => {
	const [object] = await sandbox.list('custom-objects');
	for (let i = 0; i < 12; i += 1) {
		const field = { key: `size_${i}`, label: `Size ${i}`, type: 'text' };
		await sandbox.create('custom-fields', { resource: `custom-objects/${String(object?.key)}/records`, ...field });
	}
	const objectKey = { __rl: true, mode: 'list', value: object?.key as string };
	const { fields } = await picker(getFields, { ...setup(), parameters: { ...setup('customObjectRecord').parameters, objectKey } });
	const visibleFieldIds = fields.filter(({ removed }) => !removed).map(({ id }) => id);
	expect(visibleFieldIds.length).toBeLessThan(fields.length);
	expect(visibleFieldIds.slice(0, 5).filter((id) => !id.startsWith('custom_fields.'))).toEqual([]);
	expect(visibleFieldIds).toEqual(expect.arrayContaining(['external_id', 'owner_id']));
});
