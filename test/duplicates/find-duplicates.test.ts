import { CrmPlatformDuplicates } from '../../nodes/CrmPlatform/CrmPlatformDuplicates.node';
import { getDuplicateFields, getMergedFields } from '../../nodes/CrmPlatform/pickers/listOptions';
import { duplicatesOf } from '../support/duplicates-node.ts';
import { picker } from '../support/node-runs.ts';
import { useSandbox } from '../support/sandbox.ts';
import { undoing } from '../support/undo-node.ts';

const sandbox = useSandbox({ contacts: 0 });
const { add } = undoing(sandbox);
const { find } = duplicatesOf(sandbox);

test('fields with one value are offered as common ones, and those that can be written for rules', async () => {
	const node = new CrmPlatformDuplicates();
	const setup = { credential: sandbox.credential, parameters: { authentication: 'apiKey', resource: 'contact' }, node };
	const offered = async (load: typeof getMergedFields) => (await picker(load, setup)).map(({ value }) => value);
	const [common, written] = [await offered(getDuplicateFields), await offered(getMergedFields)];
	expect(common).toEqual(expect.arrayContaining(['name+company_id', 'name', 'email', 'external_id']));
	expect(common).toEqual(expect.not.arrayContaining(['tag_ids']));
	expect(written).toEqual(expect.arrayContaining(['tag_ids', 'address', 'email']));
	expect(written).toEqual(expect.not.arrayContaining(['name+company_id']));
	await expect(find(['tag_ids'])).rejects.toThrow('no field tag_ids with one value');
});

test('names that differ in letters, domains in accents, IDs in case, and numbers of no phone, are not the same', async () => {
	await add('custom-fields', { resource: 'contacts', key: 'phone_order', label: 'Order', type: 'text' });
	for (const [i, name] of ['राम', 'रमा', 'ハナ', 'バナ', 'Май', 'Маи'].entries()) {
		const phone_order = ['2026-1-11', '2026-11-1', '00123', '123', '12/3456', '1/23456'][i];
		await add('contacts', { last_name: name, custom_fields: { phone_order } });
	}
	expect((await find(['custom_fields.phone_order'])).items).toEqual([]);
	await add('custom-fields', { resource: 'contacts', key: 'fax', label: 'Fax', type: 'text' });
	const sameFax = ['+44 20 123', '0044 (20) 123', '+44 (0)20 123', '(+44) (0)20 123', '+44-(0)20 123'];
	const italian = ['+39 (0)342 1234567', '+39 342 1234567', '0039 (0) 342 1234567'];
	for (const fax of [...sameFax, ...italian]) await add('contacts', { last_name: 'Fax', custom_fields: { fax } });
	expect((await find(['custom_fields.fax'])).items).toMatchObject([
		{ records: sameFax.map(() => ({})), why: ['Fax: 4420123'] }, { records: [{}, {}], why: ['Fax: 3903421234567'] },
	]);
	await add('custom-fields', { resource: 'contacts', key: 'domain', label: 'At', type: 'text' });
	const ids = { aBc: 'müller.example', ABC: 'muller.example', aBC: 'Muller.example' };
	for (const [external_id, domain] of Object.entries(ids)) await add('contacts', { last_name: '-', external_id, custom_fields: { domain } });
	expect((await find(['custom_fields.domain', 'external_id'])).items).toMatchObject([{ records: [{}, {}], why: ['At: muller.example'] }]);
	await add('custom-fields', { resource: 'contacts', key: 'site', label: 'Site', type: 'url' });
	for (const site of ['https://müller.example', 'https://muller.example', 'HTTPS://Muller.example/']) {
		await add('contacts', { last_name: '-', custom_fields: { site } });
	}
	expect((await find(['custom_fields.site'])).items).toMatchObject([{ records: [{}, {}], why: ['Site: https://muller.example/'] }]);
	const groups = [['Müller', 'MULLER'], ['Ωμέγα', 'ωμεγα']];
	for (const name of groups.flat()) await add('contacts', { last_name: name, first_name: 'Same' });
	expect((await find(['last_name', 'name'])).items.map(({ why }) => why)).toEqual(
		expect.arrayContaining([['Last Name: muller', 'Name: same muller'], ['Last Name: ωμεγα', 'Name: same ωμεγα']]),
	);
	expect((await find(['last_name'])).items.flatMap(({ why }) => why).join()).not.toMatch(/[रハМ]/);
});
