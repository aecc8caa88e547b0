import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns, rowsOf } from '../support/file-runs.ts';
import { run } from '../support/node-runs.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const store = useBinaryStore();
const { setupOf, importOf } = fileRuns(sandbox, store);

describe('an import', () => {
	test('in a preview refuses what the CRM would: unique values of an earlier row, new records without a name', async () => {
		await sandbox.create('companies', { name: 'Here', external_id: 'here' });
		// The email of a refused row is still free.
		const rows = ['A,twice@trial.example,1', 'B,Twice@trial.example,', 'C,free@trial.example,1', 'D,free@trial.example,2'];
		const twice = await importOf(`Last Name,Email,External ID\n${rows.join('\n')}\n`, { preview: true });
		expect(twice.json).toMatchObject({
			ready: 2,
			reasons: [
				{ row: 3, message: 'Email: row 2 has “Twice@trial.example”, too.' },
				{ row: 4, message: 'External ID: row 2 has “1”, too.' },
			],
		});
		const csv = 'External ID,Company Name,Industry,Domain\nhere,,software,\nnew,,software,\nlater,Later,,a.example\nlater,,retail,A.example\n'
			+ 'other,Other,,a.example\nlater,,,b.example\nfree,Free,,a.example\n';
		const choices = { kind: 'company', importAs: 'upsert', matchOn: 'external_id' };
		const { json } = await importOf(csv, { ...choices, preview: true });
		const taken = { row: 6, field: 'domain', message: 'Domain: row 5 has “a.example”, too.' };
		const nameless = { row: 3, field: 'name', message: 'Name is empty, but a new record needs it.' };
		expect(json).toMatchObject({ ready: 5, repeated: 2, reasons: [nameless, taken] });
		expect((await importOf(csv, choices)).json).toMatchObject({ created: 2, updated: 3, failed: 2 });
	});

	test('refuses a row of JSON that has one name twice', async () => {
		const { json } = await importOf('{"last_name":"A","last_name":"B"}\n{"last_name":"C"}\n', { fileFormat: 'ndjson', preview: true });
		expect(json).toMatchObject({ ready: 1, reasons: [{ row: 1, message: expect.stringContaining('“last_name” twice') }] });
	});

	test('leaves out a value of one word that no record has as its name or ID', async () => {
		const csv = 'Last Name,Email,Company\nL,left@trial.example,nobody\n';
		const { json } = await importOf(csv, { options: { refusedValues: 'leaveOut' } });
		expect(json).toMatchObject({ done: 1, failed: 0, left_out: 1 });
	});

	test.each([true, false])('counts in the item the reasons for which rows are refused (preview: %p)', async (preview) => {
		const csv = `last_name,email,Company\n${['A,not mail,', 'B,,', 'C,,Nobody & Sons', 'D,"no quote', 'E,,Nobody & Sons'].join('\n')}\n`;
		const { json } = await importOf(csv, { preview });
		expect(json.reasons).toEqual([
			{ rows: 2, row: 4, field: 'company_id', message: expect.stringMatching(/Nobody & Sons/) },
			{ rows: 1, row: 2, field: 'email', message: 'Email: “not mail” is not an email address.' },
			{ rows: 1, row: 5, message: expect.stringMatching(/quote/) },
		]);
		expect((await importOf('last_name\nF\n', { preview })).json).toMatchObject({ failed: 0, reasons: [] });
	});

	test('in a preview looks up the IDs in its links, a hundred a request, and refuses those that no record has', async () => {
		const company = await sandbox.create('companies', { name: 'Linked Ltd' });
		await sandbox.clear();
		const rows = Array.from({ length: 150 }, (_, i) => `N${i},${i % 2 ? company.id : `com_01jz8q4t6v9x2b5n7m3k1h${String(1000 + i)}`}\n`);
		const { json } = await importOf(`last_name,Company\n${rows.join('')}`, { preview: true });
		expect(json).toMatchObject({ ready: 75, failed: 75 });
		expect(json.reasons).toEqual([
			{ rows: 75, row: 2, field: 'company_id', message: 'Company: no record of companies has the ID “com_01jz8q4t6v9x2b5n7m3k1h1000”.' },
		]);
		expect((await sandbox.requests()).filter(({ path }) => path === '/v1/companies')).toHaveLength(1);
	});

	test('whose key is refused says why, also if refused values are left out', async () => {
		for (const refusedValues of ['refuse', 'leaveOut']) {
			const more = { importAs: 'upsert', matchOn: 'email', preview: true, options: { refusedValues } };
			const { json } = await importOf('last_name,email\nA,bad\n', more);
			expect(json.reasons).toEqual([{ rows: 1, row: 2, field: 'email', message: 'Email: “bad” is not an email address.' }]);
		}
	});

	test.each(['update', 'delete'])('in a preview of %s refuses rows without an ID, or with one that no record has', async (importAs) => {
		const { id } = await sandbox.create('contacts', { last_name: 'Known' });
		const csv = `id,last_name\ncon_01jz8q4t6v9x2b5n7m3k1h1000,A\n${id},B\nsomebody,C\n,D\n`;
		const { json, failed } = await importOf(csv, { importAs, preview: true });
		expect(json).toMatchObject({ rows: 4, ready: 1, failed: 3, samples: [{ id }] });
		const refused = rowsOf(failed).map(({ import_row: row, import_error_field: field }) => [row, field]);
		expect(refused).toEqual([['2', 'id'], ['4', 'id'], ['5', '']]);
	});

	test('in a preview checks every row against the description, and no file is empty', async () => {
		const good = Array.from({ length: 300 }, (_, i) => `N${i},n${i}@preview.example,lead,+49301234567,de,7`);
		const bad = [
			['email', 'B,not an address,lead,+49301234567,de,7'],
			['lifecycle_stage', 'B,b1@preview.example,leader,+49301234567,de,7'],
			['phone', 'B,b2@preview.example,lead,0301234567,de,7'],
			['custom_fields.nps_score', 'B,b4@preview.example,lead,+49301234567,de,seven'],
			['last_name', `${'B'.repeat(300)},b5@preview.example,lead,+49301234567,de,7`],
		];
		const header = 'last_name,email,Lifecycle Stage,phone,language,NPS Score\n';
		await sandbox.clear();
		const { json, failed, hints } = await importOf(`${header}${[...good, ...bad.map(([, row]) => row)].join('\n')}\n`, { preview: true });
		expect(rowsOf(failed).map(({ import_error_field: field }) => field)).toEqual(bad.map(([field]) => field));
		expect(json).toMatchObject({ preview: true, rows: 305, ready: 300, failed: 5 });
		expect(hints).toContainEqual(expect.stringContaining('nothing was written'));
		const { items } = await run(await setupOf(`${header}${good.join('\n')}\n`, { preview: true }));
		expect(items[0]!.json).toMatchObject({ rows: 300, ready: 300, failed: 0 });
		expect(items[0]!.binary).toEqual({});
		expect(await sandbox.writes()).toEqual([]);
	});

	describe('in a preview refuses the rows that the run refuses:', () => {
		const define = async (key: string, type: string, more = {}) =>
			(await sandbox.create('custom-fields', { resource: 'companies', key, label: key, type, ...more })).id;
		const companies = { kind: 'company' };

		test.each([
			['an email in a custom field', 'name,work_mail\nA,not-mail\n', () => define('work_mail', 'email')],
			['a web address in a custom field', 'name,shop\nB,no address\n', () => define('shop', 'url')],
			['a required custom field without a column', 'name\nC\n', () => define('sector', 'text', { required: true })],
			['a required custom field left empty', 'name,segment\nD,\n', () => define('segment', 'text', { required: true })],
		])('%s', async (_, csv, prepare) => {
			const id = await prepare();
			const { json } = await importOf(csv, { ...companies, preview: true });
			expect(json).toMatchObject({ rows: 1, ready: 0, failed: 1 });
			expect((await importOf(csv, companies)).json).toMatchObject({ failed: 1 });
			await sandbox.call('DELETE', `/v1/custom-fields/${id}`);
		});

		test.each([
			['a language', 'last_name,language\nA,Deutsch!\nB,pt-BR\n'],
			['an address in a list of objects', 'last_name,emails\nA,"[{""value"":""not mail""}]"\nB,"[{""value"":""b@list.example""}]"\n'],
			[
				'an object in a list without what it needs',
				'last_name,emails\nA,"[{""label"":""work""}]"\nB,"[{""value"":""c@list.example"",""label"":""work""}]"\n',
			],
		])('%s', async (_, csv) => {
			const { json, failed } = await importOf(csv, { preview: true });
			expect(json).toMatchObject({ rows: 2, ready: 1, failed: 1 });
			expect(rowsOf(failed)).toMatchObject([{ import_row: '2' }]);
			expect((await importOf(csv, {})).json).toMatchObject({ failed: 1 });
		});

		test('a custom field to match on whose value several records may share', async () => {
			const id = await define('team_color', 'text');
			const more = { ...companies, importAs: 'upsert', matchOn: 'custom_fields.team_color' };
			for (const preview of [true, false]) {
				await expect(importOf('name,team_color\nA,red\n', { ...more, preview })).rejects.toThrow(
					'Match On: several records may have the same team_color',
				);
			}
			await sandbox.call('DELETE', `/v1/custom-fields/${id}`);
		});
	});

	test('uses the only file of the item, whatever its field is called; of several files, one must be named', async () => {
		const { items, files: _, ...setup } = { items: [{}], ...(await setupOf('last_name\nOnly\n', { preview: true })) };
		const [first, second] = [await store.put('last_name\nOne\n'), await store.put('last_name\nTwo\n')];
		const { items: [only] } = await run({ ...setup, items, files: { attachment_0: first } });
		expect(only!.json).toMatchObject({ samples: [{ last_name: 'One' }] });
		const both = { attachment_0: first, attachment_1: second };
		await expect(run({ ...setup, items, files: both })).rejects.toThrow(/no file “data”.*“attachment_0”, “attachment_1”/);
		const named = { ...setup.parameters, binaryField: 'attachment_1' };
		expect((await run({ ...setup, parameters: named, items, files: both })).items[0]!.json).toMatchObject({
			samples: [{ last_name: 'Two' }],
		});
		await expect(run({ ...setup, parameters: named, items, files: { attachment_0: first } })).rejects.toThrow('“attachment_0”');
		await expect(run({ ...setup, items })).rejects.toThrow('The input item has no file');
	});
});
