import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns, rowsOf } from '../support/file-runs.ts';
import { filterRows } from '../support/parameters.ts';
import { randomRuns } from '../support/random-runs.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const { importOf, exportOf } = fileRuns(sandbox, useBinaryStore());
const contacts = async () => await sandbox.list('contacts?limit=500');

async function empty(): Promise<void> {
	await sandbox.call('POST', '/v1/contacts/batch/delete', { items: (await contacts()).map(({ id }) => ({ id })) });
	const { body } = await sandbox.call('GET', '/v1/custom-fields?resource=contacts&limit=500');
	for (const { id, key } of body.data as IDataObject[]) {
		if (key === 'k1' || key === 'k2') await sandbox.call('DELETE', `/v1/custom-fields/${String(id)}`);
	}
}

const labeled = async (label: string, key = 'k1') => {
	const field = await sandbox.create('custom-fields', { resource: 'contacts', key, label, type: 'text' });
	expect(field).toMatchObject({ key });
};

const person = {
	first_name: 'First', last_name: 'Last', external_id: 'a', email: 'a@b.example', job_title: 'Job', timezone: 'UTC',
	phone: '+4930123456', address: { city: 'Here' },
};

const outputFields = [...Object.keys(person), 'custom_fields'];

const labels = [
	'First name', 'first_name', 'External Id', 'E-Mail', 'ADDRESS', 'Marketing Consent', 'custom fields', 'Company ID', 'Job title', 'Time zone',
	'Owner', 'created_at', 'ID', 'import_row', 'address.city', 'Address City', 'custom_fields.k1', 'customer_number', ' Odd ', '---', '=Sum',
];

beforeEach(empty);

test.each(labels)('a custom field with the label “%s” is imported from a file with labels, as are the others', async (label) => {
	await labeled(label);
	const values = { ...person, custom_fields: { k1: 'Own' } };
	const contact = await sandbox.create('contacts', values);
	expect(contact).toMatchObject(values);
	const { text } = await exportOf({ options: { outputFields } });
	await sandbox.call('DELETE', `/v1/contacts/${contact.id}`);
	for (const importAs of ['create', 'upsert']) {
		const { json, failed } = await importOf(text, { importAs });
		expect({ failed, done: json.done }).toMatchObject({ done: 1 });
		expect(await contacts()).toMatchObject([values]);
		await sandbox.call('POST', '/v1/contacts/batch/delete', { items: (await contacts()).map(({ id }) => ({ id })) });
	}
});

test('a column with the exact label of a field is that field, whatever other name it resembles', async () => {
	await labeled('Company ID');
	await sandbox.create('companies', { name: 'Blue' });
	await importOf('Last Name,Company ID\nA,Blue\n', { importAs: 'create' });
	expect(await contacts()).toMatchObject([{ last_name: 'A', company_id: null, custom_fields: { k1: 'Blue' } }]);
});

const text = fc.oneof(
	fc.string({ unit: 'grapheme', maxLength: 12 }),
	fc.stringMatching(/^['=+\-@\t",;\r\n \\sep=0-9.eE]{0,10}$/),
	fc.constantFrom("'=1", "''=1", 'true', '1e21', '007', '9007199254740993', 'null', '[]', '{}', ' , ', '\ufeffx', '__proto__', '\u202ex'),
// An empty cell is not a value.
).filter((cell) => cell.trim() !== '');

const number = fc.oneof(
	fc.double({ noDefaultInfinity: true, noNaN: true }),
	fc.integer(),
	fc.constantFrom(0.1, 0.30000000000000004, 9007199254740991, 9007199254740992, 2 ** 60, 1e17, 1e21, 1e300, 5e-324, 123456789012345.67),
).map(Math.abs);

const record = fc.record({
	name: text,
	description: text,
	address: fc.record({ street: text, city: text }),
	annual_revenue: fc.option(number, { nil: null }),
	employee_count: fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: null }),
});

test('an export that is imported again changes no value, whatever the values', async () => {
	let run = 0;
	await fc.assert(
		fc.asyncProperty(fc.array(record, { minLength: 10, maxLength: 40 }), fc.constantFrom('csv', 'ndjson'), async (records, fileFormat) => {
			run += 1;
			// Records that the service refuses are not exported.
			const items = records.map((generatedRecord, i) => ({ ...generatedRecord, external_id: `any-${run}-${String(i).padStart(3, '0')}` }));
			await sandbox.call('POST', '/v1/companies/batch/create', {
				items: items.map((item, i) => ({ ...item, name: item.name.trim() || `Name ${i}` })),
			});
			const query = {
				fileFormat,
				filters: filterRows({ 'external_id[starts_with]': `any-${run}-` }),
				options: { sort: 'id', outputFields: [...Object.keys(records[0]!), 'external_id'] },
			};
			const stored = async () =>
				(await sandbox.call('GET', `/v1/companies?limit=500&sort=id&external_id[starts_with]=any-${run}-`)).body.data as IDataObject[];
			const values = (all: IDataObject[]) =>
				all.map(({ name, description, address, annual_revenue, employee_count, external_id }) => ({
					name, description, address, annual_revenue, employee_count, external_id,
				}));
			const before = await stored();
			if (before.length === 0) return;
			const exported = await exportOf(query, 'company');
			await sandbox.call('POST', '/v1/companies/batch/delete', { items: before.map(({ id }) => ({ id })) });
			const { json, failed } = await importOf(exported.text, { fileFormat, kind: 'company' });
			expect({ refused: json.failed, failed, done: json.done }).toMatchObject({ refused: 0, done: before.length });
			expect(values(await stored())).toEqual(values(before));
			expect((await exportOf(query, 'company')).text).toBe(exported.text);
		}),
		{ ...randomRuns(12), endOnFailure: true },
	);
});

test('a record nested 100,000 levels deep fails only its row, each time', async () => {
	const deep = `{"last_name":"B","custom_fields":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
	const content = `{"last_name":"A","email":"a@deep.example"}\n${deep}\n{"last_name":"C","email":"c@deep.example"}\n`;
	const again = { executionId: 'deep', context: {} };
	for (const attempt of [1, 2]) {
		const { json, failed } = await importOf(content, { fileFormat: 'ndjson' }, again);
		expect({ attempt, ...json }).toMatchObject({ attempt, created: 2, failed: 1 });
		expect(JSON.parse(failed)).toEqual({
			import_row: 2,
			import_error_code: 'unreadable_row',
			import_error_message: expect.stringContaining('nested more than 500 levels'),
			import_error_row: deep,
		});
	}
});

test('a cell with JSON nested 100,000 levels deep fails only its own row', async () => {
	const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
	const csv = `last_name,email,emails,tag_ids\nA,a@cell.example,"${deep}",\nB,b@cell.example,,"${deep}"\nC,c@cell.example,,\n`;
	const { json, failed } = await importOf(csv);
	expect(json).toMatchObject({ created: 1, failed: 2 });
	expect(rowsOf(failed).map((row) => row.import_error_message)).toEqual([
		expect.stringMatching(/Emails: .*500 levels/), expect.stringMatching(/Tags: .*500 levels/),
	]);
});

test('the files of an import open in a spreadsheet and are imported again', async () => {
	const { done, failed } = await importOf('last_name,email\nZoë,zoe@mark.example\nŁukasz,none\n');
	expect([done[0], failed[0]]).toEqual(['\uFEFF', '\uFEFF']);
	expect((await importOf(failed.replace('none', 'l@mark.example'))).json).toMatchObject({ created: 1 });
});

test.each([true, false])('a column without a name is reported, with a preview %s', async (preview) => {
	const settings = { preview, options: { createMissing: ['customFields'] } };
	const { hints, json } = await importOf(`last_name,,email,\nA,secret,a${preview}@unnamed.example,\n`, settings);
	expect(json).toMatchObject({ rows: 1, failed: 0, created_besides: [] });
	expect(hints.filter((hint) => !hint.startsWith('Preview'))).toEqual([
		'Not imported: “Column 2” (1 row. No field has this name). Map them with Exceptions, or rename them in the file.',
	]);
});

test.each([true, false])('a column that is there twice and fits no field is left out, with a preview %s', async (preview) => {
	const csv = `last_name,Notes,Notes (2),email,Notes\nA,one,two,a${preview}@notes.example,\nB,,,none,three\n`;
	const { hints, failed } = await importOf(csv, { preview });
	expect(hints.join()).toMatch(/Not imported: “Notes” \(1 row.*“Notes \(2\)” \(1 row.*“Notes \(3\)” \(1 row/);
	expect(rowsOf(failed)).toMatchObject([{ last_name: 'B', Notes: '', 'Notes (3)': 'three' }]);
});

test.each([0, '={{ $vars.DRY }}'])('a preview that is %j is refused, and nothing is written', async (preview) => {
	await sandbox.clear();
	await expect(importOf('last_name\nA\n', { preview })).rejects.toThrow(/Preview: enter true or false/);
	expect(await sandbox.writes()).toEqual([]);
});
