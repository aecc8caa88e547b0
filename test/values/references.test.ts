import type { IDataObject } from 'n8n-workflow';

import { getFields } from '../../nodes/CrmPlatform/pickers/mapperFields';
import { picker } from '../support/node-runs.ts';
import { fieldsById, openedNodes } from '../support/opened-nodes.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 130 });
const setup = openedNodes(sandbox);

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
