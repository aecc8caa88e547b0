import { type INodeParameters, NodeHelpers } from 'n8n-workflow';

import { CrmPlatformSync } from '../../nodes/CrmPlatform/CrmPlatformSync.node';
import { getSyncMatchFields, getSyncOtherMatchFields } from '../../nodes/CrmPlatform/pickers/listOptions';
import { getFieldsToSet, getSyncFields } from '../../nodes/CrmPlatform/pickers/mapperFields';
import { picker } from '../support/node-runs.ts';
import { mapped } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { runSync, syncOf } from '../support/sync-node.ts';

const { description } = new CrmPlatformSync();

/** The parameters that n8n shows of a sync of contacts. */
function visibleParameters(values: INodeParameters): string[] {
	const all = { resource: 'contact', operation: 'upsert', ...values };
	const visible = description.properties.filter((property) =>
		NodeHelpers.displayParameter(all, property, { typeVersion: 1 }, description),
	);
	return visible.map(({ name }) => name);
}

test('When Both Changed is shown once a field has the version', () => {
	expect(visibleParameters({ versionField: '', bothChanged: 'latest' })).not.toContain('bothChanged');
	expect(visibleParameters({ versionField: '', bothChanged: 'latest' })).not.toContain('changedAtField');
	expect(visibleParameters({ versionField: 'crm_version', bothChanged: 'conflict' })).toContain('bothChanged');
	expect(visibleParameters({ versionField: 'crm_version', bothChanged: 'conflict' })).not.toContain('changedAtField');
	expect(visibleParameters({ versionField: 'crm_version', bothChanged: 'latest' })).toContain('changedAtField');
});

test('a new node has its own name', () => {
	expect(NodeHelpers.makeNodeName({ resource: 'contact', operation: 'upsert' }, description)).toBe('CRM Platform Sync');
});

test('a new node previews, and its form says so first', () => {
	const [, resource, first] = visibleParameters({}).filter((name) => name !== 'operation');
	expect([resource, first]).toEqual(['resource', 'preview']);
	expect(description.properties.find(({ name }) => name === 'preview')).toMatchObject({ default: true });
});

test('linked records are picked or named, and none is created: a sync would not create them', () => {
	const linked = JSON.stringify(description.properties.filter(({ name }) => name === 'fieldsLinked'));
	expect(linked).toContain('By Name or ID');
	expect(linked).not.toContain('Created If None');
});

const sandbox = useSandbox();

const opened = (resource: string, more = {}) => ({
	credential: sandbox.credential,
	parameters: syncOf(resource, more),
	node: new CrmPlatformSync(),
});

test('a sync offers the unique fields to match on, and the id', async () => {
	const offered = await picker(getSyncMatchFields, opened('contact'));
	expect(offered.map(({ value }) => value)).toEqual(expect.arrayContaining(['email', 'external_id', 'id']));
	expect(offered.map(({ value }) => value)).not.toContain('last_name');
});

test('a sync reports that no field is chosen yet, and names none', async () => {
	const [first] = await picker(getSyncMatchFields, opened('contact'));
	const [second] = await picker(getSyncOtherMatchFields, opened('contact'));
	expect([first, second]).toEqual([{ name: 'Choose a Field', value: '' }, { name: 'None', value: '' }]);
});

test('the id can always be mapped, and is shown if records are found by it', async () => {
	const id = async (more: object) =>
		(await picker(getSyncFields, opened('contact', more))).fields.find((field) => field.id === 'id');
	expect(await id({ matchOn: 'id' })).toMatchObject({ removed: false, required: true });
	expect(await id({ alsoMatchOn: 'id' })).toMatchObject({ removed: false });
	expect(await id({})).toMatchObject({ removed: true });
	// The first line says that the fields are not those of the account.
	const credential = { ...sandbox.credential, descriptionUrl: `${sandbox.url}/v1/contacts/none` };
	const filled = opened('contact', { matchOn: 'id', fieldsMode: 'each', fields: mapped({ id: '={{ $json.id }}' }) });
	const { fields } = await picker(getSyncFields, { ...filled, credential });
	expect(fields.filter((field) => field.id === 'id')).toHaveLength(1);
	expect(fields.slice(0, 2)).toMatchObject([{ displayName: expect.stringContaining('packaged with the node') as string }, { id: 'id' }]);
});

test('an id that records are not matched on is refused', async () => {
	const fields = mapped({ id: '={{ $json.id }}', external_id: '={{ $json.key }}', last_name: 'A' });
	const setup = { credential: sandbox.credential, items: [{ id: 7, key: 'one' }] };
	const parameters = syncOf('contact', { fieldsMode: 'each', fields });
	await expect(runSync({ ...setup, parameters })).rejects.toThrow('ID is mapped');
});

test('no field to set is required', async () => {
	const { fields } = await picker(getFieldsToSet, opened('company'));
	expect(fields.length).toBeGreaterThan(5);
	expect(fields.filter(({ required }) => required)).toEqual([]);
});
