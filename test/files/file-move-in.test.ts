import { readFileSync } from 'node:fs';

import type { IDataObject } from 'n8n-workflow';

import { getColumnOptions } from '../../nodes/CrmPlatform/pickers/listOptions';
import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns, rowsOf } from '../support/file-runs.ts';
import { failure, picker, run } from '../support/node-runs.ts';
import { useSandbox } from '../support/sandbox.ts';

/** Exports of other systems, imported as a new user would. */
const sandbox = useSandbox({ contacts: 0 });
const store = useBinaryStore();
const { importOf, importing, setupOf } = fileRuns(sandbox, store);

const exported = (name: string) => readFileSync(`${__dirname}/../support/exports/${name}.csv`);

/** Where the filled columns of a file go, according to a preview. */
async function fieldsOf(content: string | Buffer, more: IDataObject = {}): Promise<Record<string, unknown>> {
	const { json } = await importOf(content, { preview: true, ...more });
	return Object.fromEntries((json.columns as IDataObject[]).map(({ column, field }) => [column, field]));
}

describe('the columns of an export', () => {
	const address = (prefix: string, country = 'Country') => ({
		[`${prefix}Street`]: 'address.street',
		[`${prefix}City`]: 'address.city',
		[`${prefix}Postal Code`]: 'address.postal_code',
		[`${prefix}${country}`]: 'address.country',
	});

	test.each<[string, string, Record<string, string>, IDataObject]>([
		['google-contacts', 'contact', {
			'First Name': 'first_name',
			'Last Name': 'last_name',
			'Organization Name': 'company_id',
			'Organization Title': 'job_title',
			Labels: 'tag_ids',
			'E-mail 1 - Value': 'email',
			'Phone 1 - Value': 'phone',
			...address('Address 1 - '),
		}, {}],
		['outlook-contacts', 'contact', {
			'First Name': 'first_name',
			'Last Name': 'last_name',
			Company: 'company_id',
			'Job Title': 'job_title',
			Categories: 'tag_ids',
			'E-mail Address': 'email',
			Language: 'language',
			...address('Business ', 'Country/Region'),
		}, { encoding: 'windows-1252' }],
		['mailchimp-audience', 'contact', {
			'Email Address': 'email',
			'First Name': 'first_name',
			'Last Name': 'last_name',
			TIMEZONE: 'timezone',
			TAGS: 'tag_ids',
		}, {}],
		['numbers-leads', 'contact', { Vorname: 'first_name', Nachname: 'last_name', 'E-Mail': 'email', Telefon: 'phone' }, {}],
	])('of %s find their fields, and no others', async (name, kind, expected, options) => {
		const fields = await fieldsOf(exported(name), { kind, options });
		expect(Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== null))).toEqual(expected);
	});

	test('are listed with a sample and the rows that have a value: those that go nowhere come first', async () => {
		const csv = 'Mail,Last Name,Rank,Empty,Photo\na@shown.example,A,,,\nb@shown.example,B,7,,x\n';
		const { json, hints } = await importOf(csv, { preview: true });
		expect(json.columns).toEqual([
			{ column: 'Rank', field: null, why: 'No field has this name', sample: '7', filled: 1 },
			{ column: 'Photo', field: null, why: 'No field has this name', sample: 'x', filled: 1 },
			{ column: 'Mail', field: 'email', why: 'Usual name of this field', sample: 'a@shown.example', filled: 2 },
			{ column: 'Last Name', field: 'last_name', why: 'Name of this field', sample: 'A', filled: 2 },
			{ column: '1 empty column', field: null, why: 'No row has a value', sample: null, filled: 0 },
		]);
		expect(hints.join()).toMatch(/Not imported: “Rank” \(1 row\. No field has this name\), “Photo” \(1 row\. .*\)\. Map them/);
	});

	test('are left to the user if two fit a field, and Exceptions decide', async () => {
		const csv = 'Last Name,Work Phone,Mobile Phone,Notes\nA,+4930123456,+49170123456,x\n';
		// The field called Name is read-only: beside first names, both columns may have last names.
		const names = csv.replace('Last Name', 'First Name,Name,Nom').replace('A,', 'A,B,C,');
		const { json, hints: previewed } = await importOf(names, { preview: true });
		expect(previewed.join()).toContain('“Name” (1 row. “Nom” would fit “Last Name”, too: choose one under Exceptions)');
		const [, , work, mobile] = json.columns as IDataObject[];
		expect([work, mobile]).toMatchObject([
			{ field: null, why: '“Mobile Phone” would fit “Phone”, too: choose one under Exceptions' },
			{ field: null, why: '“Work Phone” would fit “Phone”, too: choose one under Exceptions' },
		]);
		const columns = [['Mobile Phone', 'phone'], ['Notes', 'job_title'], ['Work Phone', '']].map(([column, field]) => ({ column, field }));
		const columnExceptions = { columns };
		const { hints, done } = await importOf(csv, { columnExceptions });
		expect(hints).toEqual([]);
		const id = /con_\w+/.exec(done)![0];
		expect(await sandbox.read(`contacts/${id}`)).toMatchObject({ last_name: 'A', phone: '+49170123456', job_title: 'x' });
	});

	test('do not overwrite a column that Exceptions sends to their field', async () => {
		const csv = 'last_name,phone,Mobile\nA,+4930123456,+49170123456\n';
		const chosen = (...columns: string[][]) => ({ columnExceptions: { columns: columns.map(([column, field]) => ({ column, field })) } });
		const { hints, done } = await importOf(csv, chosen(['Mobile', 'phone']));
		expect(hints.join()).toContain('“phone” (1 row. “Mobile” goes into this field)');
		expect(await sandbox.read(`contacts/${rowsOf(done)[0]!.import_id}`)).toMatchObject({ phone: '+49170123456' });
		const twice = await setupOf(csv, chosen(['Mobile', 'phone'], ['last_name', 'Phone']));
		expect((await failure(twice)).message).toMatch(/Exceptions: two columns go into “phone”/);
	});

	test.each([
		['E-mail Type', 'SMTP'],
		['Email Opt Out', 'true'],
		['Name', 'Ada Lovelace'],
	])('called %s go nowhere: they hold something else', async (column, value) => {
		expect(await fieldsOf(`Surname,${column}\nA,${value}\n`)).toEqual({ Surname: 'last_name', [column]: null });
	});

	test('that identify records of another type are not the keys of these records', async () => {
		expect(await fieldsOf('Last Name,Account ID\nA,001x\n')).toMatchObject({ 'Account ID': null });
		expect(await fieldsOf('Name,Account ID\nA,001x\n', { kind: 'company' })).toMatchObject({ 'Account ID': 'external_id' });
	});
});

describe('the IDs of another system', () => {
	const exportOf = (kind: string) => ({ kind, importAs: 'upsert', matchOn: 'external_id', sourceName: 'hubspot' });

	test('become external IDs, and links by them lead to records of that system first', async () => {
		const other = await sandbox.create('companies', { name: 'Other', external_id: '9001' });
		const companies = 'Record ID,Company name\n9001,Source One\n9002,Source Two\n';
		expect((await importOf(companies, exportOf('company'))).json).toMatchObject({ created: 2, failed: 0 });
		const people = `Id,Surname,Company,Associated Company IDs\n1,A,Gone Ltd,9001\n2,B,,${String(other.id)}\n3,C,,Source Two\n4,D,,9003\n`;
		const preview = await importOf(people, { ...exportOf('contact'), preview: true });
		const message = expect.stringContaining('“9003” is not known as an ID of the other system') as string;
		expect(preview.json).toMatchObject({ rows: 4, failed: 1, reasons: [{ row: 5, message }] });
		expect(preview.json.columns).toMatchObject([
			{ column: 'Company', field: null, why: '“Associated Company IDs” goes into this field' },
			{ column: 'Id', field: 'external_id' },
			{ column: 'Surname', field: 'last_name' },
			{ column: 'Associated Company IDs', field: 'company_id', why: 'IDs of the other system' },
		]);
		const { json, done } = await importOf(people, exportOf('contact'));
		expect(json).toMatchObject({ created: 3, failed: 1 });
		const read = await Promise.all(rowsOf(done).map(async ({ import_id: id }) => await sandbox.read(`contacts/${id}`)));
		const companyOf = async (id: string) => (await sandbox.list(`companies?external_id=hubspot:${id}`))[0]!.id;
		const expected = [['hubspot:1', await companyOf('9001')], ['hubspot:2', other.id], ['hubspot:3', await companyOf('9002')]];
		expect(read.map(({ external_id: id, company_id: company }) => [id, company])).toEqual(expected);
	});

	test('are read in whole pages if many are asked for, and an ID that a spreadsheet has rounded is refused', async () => {
		await sandbox.clear();
		const rows = Array.from({ length: 30 }, (_, i) => `${i},P${i},${9001 + (i % 20)}`);
		const { json } = await importOf(`Id,Surname,Company ID\n${rows.join('\n')}\n"1,0E+11",X,\n`, { ...exportOf('contact'), preview: true });
		expect(json).toMatchObject({ rows: 31, failed: 27 });
		const reads = (await sandbox.requests()).filter(({ path, query }) => path === '/v1/companies' && /external_id.*=500/.test(query));
		expect(reads).toHaveLength(1);
	});

	test('lead nowhere from a column of users, and without Source Name', async () => {
		const csv = 'Surname,OwnerId,AccountId\nA,5,9001\n';
		expect(await fieldsOf(csv, exportOf('contact'))).toEqual({ Surname: 'last_name', OwnerId: null, AccountId: 'company_id' });
		expect(await fieldsOf(csv)).toMatchObject({ AccountId: null });
	});

	test('of links are not left out if no record is from that system yet, unless another column has names', async () => {
		const fields = async (header: string) => await fieldsOf(`Surname,${header}\nA,9003,B\n`, { ...exportOf('contact'), sourceName: 'other' });
		expect(await fields('Company IDs,Notes')).toMatchObject({ 'Company IDs': 'company_id' });
		expect(await fields('Company IDs,Company')).toMatchObject({ 'Company IDs': null, Company: 'company_id' });
	});
});

describe('a row with values that do not fit', () => {
	const csv = 'Last Name,Email,Phone,Lifecycle Stage,NPS Score\nA,no address,none,VIP client,seven\nB,b@fits.example,,,\n';
	const wrong = ['email', 'phone', 'lifecycle_stage', 'custom_fields.nps_score'];

	test.each([true, false])('is refused with all of them, their labels and values (preview: %p)', async (preview) => {
		const { json, failed } = await importOf(csv, { preview });
		expect(json).toMatchObject({ rows: 2, failed: 1 });
		const [row] = rowsOf(failed);
		expect(row!.import_error_field!.split(', ').sort()).toEqual([...wrong].sort());
		for (const text of ['Email: “no address”', 'Phone: “none”', 'Lifecycle Stage: “VIP client”', 'NPS Score: “seven”']) {
			expect(row!.import_error_message).toContain(text);
		}
	});

	test('is written without them if the user chooses so, and a file has them', async () => {
		const { items, hints } = await run(await setupOf(csv.replace('b@fits', 'b2@fits'), { options: { refusedValues: 'leaveOut' } }));
		expect(items[0]!.json).toMatchObject({ created: 2, failed: 0, left_out: 4 });
		expect(hints.join()).toContain('4 values were left out');
		const left = rowsOf(await store.text(items[0]!.binary!.left_out));
		expect(left.map(({ import_error_field: field }) => field).sort()).toEqual([...wrong].sort());
		expect(left).toContainEqual(expect.objectContaining({ import_row: '2', import_error_field: 'phone', import_error_value: 'none' }));
	});

	test('is written without an amount whose currency is left out, and without a currency whose amount is', async () => {
		await sandbox.create('companies', { name: 'Known', external_id: 'known', annual_revenue: 5, currency: 'USD' });
		const csv = 'Name,External ID,Annual Revenue,Currency,Employee Count\n'
			+ 'N,new,100,Euros,1\nN,known,lots,EUR,2\nN,both,200,EUR,3\nN,blank,,Euros,4\n';
		const choices = { kind: 'company', importAs: 'upsert', matchOn: 'external_id', options: { refusedValues: 'leaveOut' } };
		const { hints } = await importOf(csv.replace('lots', '5'), { ...choices, preview: true });
		expect(hints.join()).not.toContain('Numbers Are');
		const { items } = await run(await setupOf(csv, choices));
		const records = await Promise.all(['new', 'known', 'both', 'blank'].map(async (id) => await sandbox.list(`companies?external_id=${id}`)));
		const numbers = records.flat().map((record) => [record.annual_revenue, record.currency, record.employee_count]);
		expect(numbers).toEqual([[null, null, 1], [5, 'USD', 2], [200, 'EUR', 3], [null, null, 4]]);
		const left = rowsOf(await store.text(items[0]!.binary!.left_out)).map((row) => `${row.import_row} ${row.import_error_field}`);
		expect(left).toEqual(['2 annual_revenue', '2 currency', '3 annual_revenue', '3 currency', '5 currency']);
	});
});

describe('values in other notations', () => {
	const deals = 'Deal Name,Close Date,Amount\nA,14.03.2026,"1.250,50"\nB,01.02.2026,900\n';

	test('are refused, and the preview says which option reads all of them', async () => {
		const { json, hints } = await importOf(deals, { kind: 'deal', preview: true });
		expect(json).toMatchObject({ failed: 2 });
		expect(hints).toContain('2 of 2 values of “Expected Close Date” are day/month/year: choose Values In → Dates Are → day/month/year.');
		expect(hints).toContain('2 of 2 values of “Amount” are numbers such as 1.234,56: choose Values In → Numbers Are → 1.234,56.');
		for (const name of ['North', 'South']) await sandbox.create('tags', { name });
		const people = 'Last Name,Lifecycle Stage,Phone,Country,Tags\nA,Subscriber,0170 555011,Germany,North;South\nB,,,,North\n';
		const contacts = await importOf(people, { preview: true });
		expect(contacts.hints).toContainEqual(expect.stringContaining('“Lifecycle Stage” does not have the choices “Subscriber”'));
		expect(contacts.hints).toContainEqual(expect.stringContaining('1 of 1 values of “Phone” have no country code'));
		expect(contacts.hints.join()).toContain('2 of 2 values of “Tags” are lists with semicolons: choose Values In → Lists Are Separated By');
		expect(contacts.hints).toContainEqual(expect.stringContaining('are names of countries: choose Values In → Countries Are → Names'));
		const options = { valuesIn: { notation: { phoneCountry: 'DE' } } };
		const german = await importOf('Last Name,Phone\nA,555011\n', { preview: true, options });
		expect([german.json.failed, german.hints.join()]).toEqual([1, expect.not.stringContaining('Default Country')]);
	});

	test('are read as chosen, names of linked records included', async () => {
		for (const name of ['Notation A', 'Notation B']) await sandbox.create('tags', { name });
		const notation = { dates: 'dayMonth', numbers: 'comma', lists: 'semicolon', valueMap: 'Group B -> Notation B' };
		const csv = deals.replace('Amount', 'Amount,Tags').replace('0"', '0",Notation A;Group B').replace('900', '900,');
		const { done, json } = await importOf(csv, { kind: 'deal', options: { valuesIn: { notation } } });
		expect(json).toMatchObject({ created: 2, failed: 0 });
		const deal = await sandbox.read(`deals/${rowsOf(done)[0]!.import_id}`);
		expect(deal).toMatchObject({ expected_close_date: '2026-03-14', amount: 1250.5 });
		expect(deal.tag_ids).toHaveLength(2);
	});
});

test('a key that a spreadsheet has rounded refuses its row alone', async () => {
	const csv = 'name,external_id\nA,"1,00045E+11"\nB,100045000000\n';
	const { json } = await importOf(csv, { kind: 'company', importAs: 'upsert', matchOn: 'external_id' });
	expect(json).toMatchObject({ created: 1, failed: 1 });
	expect(json.reasons).toMatchObject([{ row: 2, message: expect.stringContaining('a spreadsheet has rounded') }]);
});

test('the result of a broken formula refuses its row, also in a text field', async () => {
	const { json } = await importOf('last_name,job_title\nA,#REF!\nB,[object Object]\nC,Boss\n');
	expect(json).toMatchObject({ created: 1, failed: 2, reasons: [{ rows: 2, field: 'job_title' }] });
});

test('the exceptions offer the fields of what is imported', async () => {
	const offered = async (importAs: string) =>
		await picker(getColumnOptions, { credential: sandbox.credential, parameters: importing({ importAs }) });
	expect((await offered('delete')).map(({ value }) => value)).toEqual(['', 'id']);
	expect(await offered('create')).toContainEqual({ name: 'Email', value: 'email' });
});
