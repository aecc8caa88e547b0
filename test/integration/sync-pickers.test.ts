import { getFieldsToSet, getSyncFields, getSyncMatchFields } from '../../nodes/CrmPlatform/pickers/syncFields';
import { useSandbox } from './sandbox.ts';
import { syncOf, syncPicker as picker } from './syncNode.ts';

const sandbox = useSandbox();
const opened = (resource: string, more = {}) => ({
	credential: sandbox.credential,
	parameters: syncOf(resource, more),
});

test('a sync offers the unique fields to match on, and the id', async () => {
	const offered = await picker(getSyncMatchFields, opened('contact'));
	expect(offered.map(({ value }) => value)).toEqual(expect.arrayContaining(['email', 'external_id', 'id']));
	expect(offered.map(({ value }) => value)).not.toContain('last_name');
});

test('the id can be mapped where records are found by it, and only there', async () => {
	const ids = async (more: object) =>
		(await picker(getSyncFields, opened('contact', more))).fields.map(({ id }) => id);
	expect(await ids({ matchOn: 'id' })).toContain('id');
	expect(await ids({ alsoMatchOn: 'id' })).toContain('id');
	expect(await ids({})).not.toContain('id');
});

test('of the fields to set, none is required', async () => {
	const { fields } = await picker(getFieldsToSet, opened('company'));
	expect(fields.length).toBeGreaterThan(5);
	expect(fields.filter(({ required }) => required)).toEqual([]);
});
