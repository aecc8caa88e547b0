import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';

import { useBinaryStore } from '../support/binary-store.ts';
import { getColumnFields } from '../../nodes/CrmPlatform/pickers/mapperFields';
import { fileRuns, rowsOf } from '../support/file-runs.ts';
import { failure, picker } from '../support/node-runs.ts';
import { mapped } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const store = useBinaryStore();

const { importing, setupOf, importOf } = fileRuns(sandbox, store);

const contactsLike = async (email: string) => await sandbox.list(`contacts?limit=500&email[contains]=${encodeURIComponent(email)}`);

describe('an import', () => {
	test('writes a record for each row that is not blank, its columns found by name or label', async () => {
		const csv = 'First Name;last_name;E-Mail\r\nAna;"Moreno; Ruiz";ana@columns.example\r\n; ;\r\n;\r\nEva;Díaz;eva@columns.example\r\n';
		const { json, done, failed } = await importOf(csv.replace('E-Mail', 'Email'));
		expect(json).toMatchObject({ rows: 2, done: 2, created: 2, failed: 0 });
		const contacts = await contactsLike('columns.example');
		expect(contacts).toMatchObject([{ first_name: 'Ana', last_name: 'Moreno; Ruiz' }, { last_name: 'Díaz' }]);
		expect(rowsOf(done)).toMatchObject([
			{ 'First Name': 'Ana', import_row: '2', import_id: contacts[0]!.id, import_action: 'created' },
			{ import_row: '5', import_id: contacts[1]!.id },
		]);
		expect(rowsOf(failed)).toEqual([]);
	});

	test('does not request the records that it has written', async () => {
		await sandbox.clear();
		await importOf('last_name,email\nA,a@bare.example\n');
		const results = (await sandbox.requests()).filter(({ path }) => path.endsWith('/results'));
		expect(results.map(({ query }) => new URLSearchParams(query).get('records'))).toEqual(['false']);
	});

	test('reads the names of the columns below a title, as reports have one', async () => {
		const { json, hints } = await importOf('Table 1;;\nFirst Name;Last Name;Email\nAna;Moreno;a@title.example\n');
		expect(json).toMatchObject({ rows: 1, created: 1 });
		expect(hints).toContainEqual(expect.stringContaining('“Table 1” in row 1 is a title'));
	});

	test('is refused if its first row may be a title, or the header of a second column without a name', async () => {
		const { message } = await failure(await setupOf('Name,\nAda,Lovelace\nGrace,Hopper\n'));
		expect(message).toContain('The first row has only “Name”, which may be a title or the name of a column');
	});

	test('reads the meaning of its columns once, however many rows it has', async () => {
		const companies = ['Once', 'Twice'].map((name) => ({ name: `${name} Columns` }));
		await sandbox.call('POST', '/v1/companies/batch/create', { items: companies });
		await sandbox.clear();
		const filler = 'x'.repeat(10_000);
		const rows = Array.from({ length: 100 }, (_, i) => `Moreno ${i},once.${i}@files.example,${i % 11},${companies[i % 2]!.name},${filler}\n`);
		const { json } = await importOf(`last_name,email,NPS Score,Company,Filler\n${rows.join('')}`);
		expect(json).toMatchObject({ done: 100, failed: 0 });
		const paths = (await sandbox.requests()).filter(({ method }) => method === 'GET').map(({ path }) => path);
		const requestCountOf = (path: string) => paths.filter((requestPath) => requestPath === path).length;
		expect([requestCountOf('/v1/custom-fields'), requestCountOf('/v1/companies')]).toEqual([1, 1]);
	});

	test('returns the refused rows as a file that can be corrected and imported again', async () => {
		const csv = 'last_name,email,Company\nA,a@mend.example,mend.example\nB,no address,Mend\nC,c@mend.example,Nobody & Sons\n';
		const company = await sandbox.call('POST', '/v1/companies', { name: 'Mend', domain: 'mend.example' });
		const first = await importOf(csv);
		expect(first.json).toMatchObject({ rows: 3, done: 1, failed: 2 });
		expect(first.hints).toEqual([expect.stringMatching(/2 of 3 rows were refused/)]);
		expect(rowsOf(first.failed)).toMatchObject([
			{ last_name: 'B', email: 'no address', import_row: '3', import_error_field: 'email', import_error_code: expect.stringMatching(/./) },
			{ last_name: 'C', import_row: '4', import_error_code: 'invalid_value', import_error_message: expect.stringContaining('Nobody & Sons') },
		]);
		const mended = first.failed.replace('no address', 'b@mend.example').replace('Nobody & Sons', 'Mend');
		const second = await importOf(mended);
		expect(second.json).toMatchObject({ rows: 2, done: 2, failed: 0 });
		const companies = (await contactsLike('mend.example')).map(({ company_id: id }) => id);
		expect(companies).toEqual([company.body.id, company.body.id, company.body.id]);
	});

	test('takes columns mapped manually, and no others', async () => {
		const csv = 'Surname,Mail,Notes\nA,a@hand.example,secret\n';
		const columns = mapped({ last_name: 'Surname', first_name: '={{ "Sur" + "name" }}', email: 'Mail', phone: null });
		expect((await importOf(csv, { columnsMode: 'each', columns })).json).toMatchObject({ created: 1 });
		expect(await contactsLike('a@hand.example')).toMatchObject([{ first_name: 'A', last_name: 'A', phone: null }]);
		const doubled = await importOf('Surname,Mail,Notes,Notes\nB,twice@hand.example,,\n', { columnsMode: 'each', columns });
		expect(doubled.json).toMatchObject({ created: 1 });
		const needed = await failure(await setupOf('Surname,Mail,Mail\nB,twice@hand.example,\n', { columnsMode: 'each', columns }));
		expect(needed.message).toContain('“Mail” twice');
		const missing = await failure(await setupOf(csv, { columnsMode: 'each', columns: mapped({ last_name: 'Name' }) }));
		expect(missing.message).toMatch(/no column “Name”.*Surname, Mail, Notes/);
	});

	test.each([
		['create', ['name'], false],
		['update', ['id'], true],
		['upsert', [], false],
		['delete', ['id'], true],
		['={{ $json.do }}', ['name'], false],
	])('offers the fields of %s, each of which takes a column as text', async (importAs, required, takesId) => {
		const parameters = importing({ importAs, columnsMode: 'each' }, 'company');
		const { fields } = await picker(getColumnFields, { credential: sandbox.credential, parameters });
		expect(fields.filter(({ displayName }) => displayName.includes('(Required')).map(({ id }) => id)).toEqual(required);
		expect(fields.some(({ id }) => id === 'id')).toBe(takesId);
		expect(new Set(fields.map(({ type, options }) => `${type} ${options?.length}`))).toEqual(new Set(['string undefined']));
	});

	test('that is canceled starts no further job', async () => {
		const csv = `last_name,email\n${Array.from({ length: 6000 }, (_, i) => `N,${i}@cancel.example\n`).join('')}`;
		await sandbox.faults({ path: '/v1/jobs', status: 200, body: { id: 'job_x', status: 'processing' } });
		const cancel = new AbortController();
		const running = importOf(csv, { importAs: 'upsert' }, { abort: cancel.signal });
		const ended = expect(running).rejects.toThrow('The execution was canceled');
		await sandbox.logged(3);
		cancel.abort();
		await ended;
		const requests = await sandbox.requests();
		expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
	});

	test('takes NDJSON, a JSON array, and records of custom objects', async () => {
		const lines = '{"last_name":"A","email":"a@json.example"}\nno json\n{"last_name":"B","email":"b@json.example"}\n';
		const ndjson = await importOf(lines, { fileFormat: 'ndjson' });
		expect(ndjson.json).toMatchObject({ created: 2, failed: 1 });
		expect(JSON.parse(ndjson.failed)).toMatchObject({ import_row: 2, import_error_code: 'unreadable_row' });
		const array = await importOf('[{"last_name":"C","email":"c@json.example"}]', { fileFormat: 'json' });
		expect(array.json).toMatchObject({ created: 1 });
		const objectKey = { __rl: true, mode: 'id', value: 'machines' };
		const machines = await importOf('external_id,Name,Serial Number\nf1,Lathe,s1\nf2,Mill,s2\n', { kind: 'customObjectRecord', objectKey });
		expect(machines).toMatchObject({ json: { rows: 2 } });
		expect(machines.failed.trim().split('\n')).toHaveLength(1);
	});
});

describe('a hostile file', () => {
	const header = 'last_name,email\n';
	// Rows that do not fit into one chunk, and are hard to compress.
	const randomRows = Array.from({ length: 300 }, () => `${randomUUID()},\n`).join('');

	test.each([
		['is empty', '', /empty/],
		['has a header alone', header, /no records/],
		['has a column twice', 'email,email\na,b\n', /“email” twice/],
		['has a column twice, once without values', 'last_name,email,email\nA,,b\n', /“email” twice/],
		['has no column that fits a field', 'Foo,Bar\n1,2\n', /No column of the file has the name of a field.*Foo, Bar/],
		['is a workbook', Buffer.from('PK\u0003\u0004\u0014'), /Excel workbook.*save the workbook as CSV/],
		['is an old workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /Excel workbook.*save the workbook as CSV/],
		['is in another encoding', Buffer.from('last_name\nMu\xf1oz\n', 'latin1'), /not UTF-8 text.*Windows-1252/],
		['has a byte of another encoding', Buffer.from(`${header}${randomRows}Mu\xf1oz,\n`, 'latin1'), /not UTF-8/],
		['is compressed and cut off', gzipSync(`${header}${randomRows}`).subarray(0, -500), /gzip.*incomplete/],
		['has a line of 10 MB', `${header}${'x'.repeat(10 * 1024 * 1024)},a@long.example\n`, /longer than 1 MB/],
	])('that %s is refused before anything is written', async (_, content, words) => {
		await sandbox.clear();
		expect((await failure(await setupOf(content))).message).toMatch(words);
		expect(await sandbox.writes()).toEqual([]);
	});

	test.each([
		['a quote that never ends', '"A,a@quote.example\n', 'quote', /quote/],
		['too many cells', 'A,a@cells.example,more\n', 'cells', /3 cells.*2/],
		['too few cells', 'A\n', 'few', /1 cells.*2/],
		['its header twice', header, 'twice', /repeats the header/],
	])('with %s is imported except for that row', async (_, row, name, words) => {
		const { json, failed } = await importOf(`${header}${row}B,b@${name}.example\n`);
		expect(json).toMatchObject({ created: 1, failed: 1 });
		const [refused] = rowsOf(failed);
		expect(refused).toMatchObject({ import_row: '2', import_error_message: expect.stringMatching(words) });
		expect(await contactsLike(`b@${name}.example`)).toHaveLength(1);
	});
});

describe('rows of one key', () => {
	const csv = 'Last Name,Email\nA,a@key.example\nB,b@key.example\nC,A@key.example\n';
	const upsert = { importAs: 'upsert', matchOn: 'email' };

	test.each([true, false])('are told, and the last one wins (preview: %p)', async (preview) => {
		const { json, hints } = await importOf(csv, { ...upsert, preview });
		expect(json).toMatchObject({ rows: 3, failed: 0, repeated: 1 });
		expect(hints.join()).toContain('1 rows have the same Email as an earlier row: of these, the last one wins. For example row 4 and row 2');
		if (!preview) expect(await sandbox.list('contacts?email=a@key.example')).toMatchObject([{ last_name: 'C' }]);
	});

	test('are refused after the first if the user chooses so', async () => {
		await sandbox.create('custom-fields', { resource: 'contacts', key: 'login', label: 'Login Email', type: 'email', unique: true });
		const choices = { ...upsert, matchOn: 'custom_fields.login', options: { repeatedRows: 'refuse' } };
		const { json } = await importOf(csv.replace('Email', 'Login Email'), choices);
		expect(json).toMatchObject({ created: 2, failed: 1, reasons: [{ row: 4, message: expect.stringContaining('Login Email: row 2 has') }] });
	});
});
