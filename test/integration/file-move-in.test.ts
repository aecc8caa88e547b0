import { readFileSync } from 'node:fs';

import type { IDataObject } from 'n8n-workflow';

import { getColumnOptions } from '../../nodes/CrmPlatform/pickers/columnFields';
import { useBinaryStore } from './harness/binary-store.ts';
import { fileRuns } from './harness/file-runs.ts';
import { failure, picker } from './harness/node-runs.ts';
import { useSandbox } from './harness/sandbox.ts';

/** Exports of other systems, imported as a new user would. */
const sandbox = useSandbox({ contacts: 0 });
const { importOf, importing, setupOf } = fileRuns(sandbox, useBinaryStore());

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
		['hubspot-contacts', 'contact', {
			'Record ID': 'external_id',
			'First Name': 'first_name',
			'Last Name': 'last_name',
			Email: 'email',
			'Phone Number': 'phone',
			'Contact owner': 'owner_id',
			'Lifecycle Stage': 'lifecycle_stage',
			'Original Source': 'lead_source',
			'Company Name': 'company_id',
			'Job Title': 'job_title',
			City: 'address.city',
			'Country/Region': 'address.country',
		}, {}],
		['hubspot-companies', 'company', {
			'Record ID': 'external_id',
			'Company name': 'name',
			'Company owner': 'owner_id',
			'Phone Number': 'phone',
			City: 'address.city',
			'Country/Region': 'address.country',
			Industry: 'industry',
			'Website URL': 'website',
			'Company Domain Name': 'domain',
			'Annual Revenue': 'annual_revenue',
			'Number of Employees': 'employee_count',
		}, {}],
		['hubspot-deals', 'deal', {
			'Record ID': 'external_id',
			'Deal Name': 'title',
			'Deal Stage': 'stage_id',
			Amount: 'amount',
			'Close Date': 'expected_close_date',
			'Deal owner': 'owner_id',
			Pipeline: 'pipeline_id',
			'Associated Company': 'company_id',
		}, {}],
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
			{ column: '1 empty columns', field: null, why: 'No row has a value', sample: null, filled: 0 },
		]);
		expect(hints.join()).toMatch(/no such field: “Rank” \(1 rows\), “Photo” \(1 rows\)\. 1 more such columns are empty/);
	});

	test('are left to the user if two fit a field, and Exceptions decide', async () => {
		const csv = 'Last Name,Work Phone,Mobile Phone,Notes\nA,+4930123456,+49170123456,x\n';
		const { json } = await importOf(csv, { preview: true });
		const [work, mobile] = json.columns as IDataObject[];
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

	test.each([
		['E-mail Type', 'SMTP'],
		['Email Opt Out', 'true'],
		['Name', 'Ada Lovelace'],
	])('called %s go nowhere: they hold something else', async (column, value) => {
		expect(await fieldsOf(`Surname,${column}\nA,${value}\n`)).toEqual({ Surname: 'last_name', [column]: null });
	});

	test('that only look like a field are suggested, not imported', async () => {
		const { json } = await importOf('Last Name,Login\nA,a@looks.example\n', { preview: true });
		expect(json.columns).toContainEqual({
			column: 'Login',
			field: null,
			why: 'No field has this name. Its values look like those of “Email”',
			sample: 'a@looks.example',
			filled: 1,
		});
	});

	test('stop an import before anything is written if none fits a field', async () => {
		await sandbox.clear();
		expect((await failure(await setupOf('Foo,Bar\n1,2\n'))).message).toMatch(/No column of the file has the name of a field.*Foo, Bar/);
		expect(await sandbox.writes()).toEqual([]);
	});
});

test('the exceptions offer the fields of what is imported', async () => {
	const offered = async (importAs: string) =>
		await picker(getColumnOptions, { credential: sandbox.credential, parameters: importing({ importAs }) });
	expect((await offered('delete')).map(({ value }) => value)).toEqual(['', 'id']);
	expect(await offered('create')).toContainEqual({ name: 'Email', value: 'email' });
});
