import type { IDataObject } from 'n8n-workflow';

import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns, rowsOf } from '../support/file-runs.ts';
import { filterRows } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 120 });
const { importOf, exportOf } = fileRuns(sandbox, useBinaryStore());

const listOf = async (path: string) => await sandbox.list(`${path}?limit=500&sort=id`);
/** The values that people write: writing a record's own values changes its version. */
const withoutVersions = (records: IDataObject[]) => records.map(({ version: _, updated_at: __, updated_by: ___, ...record }) => record);
const withLastName = (last_name: string) => ({ filters: filterRows({ last_name }) });

test('a file that is exported without a choice has labels, names and lists as text, and nothing technical', async () => {
	const company = await sandbox.create('companies', { name: 'Altamira, Ltd.' });
	const tags = [await sandbox.create('tags', { name: 'Key account' }), await sandbox.create('tags', { name: 'Fair' })];
	const owner = await sandbox.first('users');
	const person = {
		last_name: 'Readable', lifecycle_stage: 'customer', company_id: company.id, owner_id: owner.id, tag_ids: tags.map(({ id }) => id),
	};
	await sandbox.create('contacts', person);
	const { text, hints } = await exportOf(withLastName('Readable'));
	const [row = {}] = rowsOf(text);
	expect(row).toMatchObject({
		'Last Name': 'Readable', Company: 'Altamira, Ltd.', Owner: owner.name, Tags: 'Key account, Fair', 'Lifecycle Stage': 'Customer',
	});
	expect(Object.keys(row)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(object|version|emails|deleted_at|created_by)$/i)]));
	expect(Object.values(row).join()).not.toMatch(/[[{]|\b(?!con_)[a-z]{3}_[0-9a-z]{26}\b/);
	expect(hints).toEqual([]);
});

test.each([
	['contact', 'contacts'],
	['company', 'companies'],
	['deal', 'deals'],
	['note', 'notes'],
])('a %s file for people can be imported into its account and changes nothing', async (kind, path) => {
	const before = await listOf(path);
	expect(before.length).toBeGreaterThan(10);
	const { text } = await exportOf({}, kind);
	const { json, failed, hints } = await importOf(text, { importAs: 'update', kind });
	const refused = rowsOf(failed);
	expect(refused.filter((row) => !row.import_error_message?.includes('may match several records'))).toEqual([]);
	expect(Number(json.done)).toBeGreaterThan(before.length / 2);
	expect(hints.filter((hint) => !/were refused|Only the CRM fills/.test(hint))).toEqual([]);
	const after = new Map((await listOf(path)).map((record) => [record.id, record]));
	expect(withoutVersions(before.map(({ id }) => after.get(id)!))).toEqual(withoutVersions(before));
});

const oddNames = [
	'100123', 'shop-100123', 'com_01jz8q4t6v0000000000000000', 'name:Altamira', 'id:100123', '  Blue  ', 'blue.example', '=Sum', '[1]',
];
test.each(oddNames)(
	'a company called “%s” is found again by its name',
	async (name) => {
		const company = await sandbox.create('companies', { name });
		const { id } = await sandbox.create('contacts', { last_name: 'Linked', company_id: company.id });
		const options = { outputFields: ['last_name', 'company_id'] };
		const { text } = await exportOf({ filters: filterRows({ company_id: company.id }), options });
		expect(text).toContain(name.trim());
		await sandbox.call('DELETE', `/v1/contacts/${id}`);
		expect((await importOf(text, { importAs: 'create' })).json).toMatchObject({ done: 1, failed: 0 });
		const { body } = await sandbox.call('GET', `/v1/contacts?company_id=${company.id}`);
		expect(body.data).toHaveLength(1);
	},
);

test('a row with a name that two records have is refused with the ids of both, and can be imported with an id', async () => {
	const twins = [await sandbox.create('companies', { name: 'Twin' }), await sandbox.create('companies', { name: 'TWIN' })];
	for (const { id } of twins) await sandbox.create('contacts', { last_name: 'OfTwins', company_id: id });
	const reading = withLastName('OfTwins');
	const imported = await importOf((await exportOf(reading)).text, { importAs: 'update' });
	expect(imported.json).toMatchObject({ done: 0, failed: 2 });
	for (const { id } of twins) expect(imported.failed).toContain(id);
	const { text } = await exportOf({ ...reading, options: { madeFor: 'account' } });
	expect(rowsOf(text).map(({ company_id }) => company_id).sort()).toEqual(twins.map(({ id }) => id).sort());
	expect((await importOf(text, { importAs: 'update' })).json).toMatchObject({ done: 2, failed: 0 });
});

test('a list with a comma in one of its texts stays a list', async () => {
	const tags = [await sandbox.create('tags', { name: 'Red, green' }), await sandbox.create('tags', { name: 'Blue' })];
	const { id } = await sandbox.create('contacts', { last_name: 'Tagged', tag_ids: tags.map((tag) => tag.id) });
	const { text } = await exportOf(withLastName('Tagged'));
	expect(rowsOf(text)[0]).toMatchObject({ Tags: '["Red, green","Blue"]' });
	await sandbox.call('PATCH', `/v1/contacts/${id}`, { tag_ids: [] });
	expect((await importOf(text, { importAs: 'update' })).json).toMatchObject({ done: 1 });
	expect(await sandbox.read(`contacts/${id}`)).toMatchObject({ tag_ids: tags.map((tag) => tag.id) });
});

test('names are read with one request per hundred, and records that may not be read keep their ids', async () => {
	for (let i = 0; i < 3; i++) {
		const { body } = await sandbox.call('POST', '/v1/companies/batch/create', {
			items: Array.from({ length: 100 }, (_, j) => ({ name: `Linked ${i} ${j}` })),
		});
		const results = body.results as Array<{ data: IDataObject }>;
		await sandbox.call('POST', '/v1/contacts/batch/create', {
			items: results.map(({ data }) => ({ last_name: 'Many', company_id: data.id })),
		});
	}
	const reading = withLastName('Many');
	await sandbox.clear();
	const { text } = await exportOf(reading);
	expect(rowsOf(text).map(({ Company }) => Company)).toEqual(expect.arrayContaining(['Linked 0 0', 'Linked 2 99']));
	const companyRequests = (await sandbox.requests()).filter(({ path }) => path.startsWith('/v1/companies'));
	expect(companyRequests.length).toBeLessThanOrEqual(4);

	await sandbox.faults({ path: '/v1/companies', status: 403, times: 100 });
	const refused = await exportOf(reading);
	await sandbox.faults();
	expect(rowsOf(refused.text).every(({ Company }) => /^com_/.test(Company ?? ''))).toBe(true);
	expect(refused.hints.join()).toContain('The names of some linked companies could not be read. The file has their IDs.');
});

test('a file has the ids of stages whose pipelines may not be read', async () => {
	await sandbox.faults({ path: '/v1/pipelines', status: 403, times: 100 });
	const { text, hints } = await exportOf({}, 'deal');
	await sandbox.faults();
	expect(rowsOf(text).every(({ Stage }) => /^stg_/.test(Stage ?? ''))).toBe(true);
	expect(hints.join()).toContain('The names of some linked stages could not be read. The file has their IDs.');
});
