import { gzipSync } from 'node:zlib';

import type { IDataObject } from 'n8n-workflow';

import { alteredService } from '../support/altered-service.ts';
import { useBinaryStore } from '../support/binary-store.ts';
import { rowsOf } from '../support/file-runs.ts';
import { failure, run, type Setup } from '../support/node-runs.ts';
import { useSandbox } from '../support/sandbox.ts';
import { undoing } from '../support/undo-node.ts';

/** Files of several record types of another system, imported together. */
const sandbox = useSandbox({ contacts: 0 });
const service = alteredService(sandbox, true);
const store = useBinaryStore();

/** @param files by their names */
async function setupOf(files: Record<string, string | Buffer>, more: IDataObject = {}): Promise<Setup> {
	const stored = await Promise.all(
		Object.entries(files).map(async ([fileName, content], i) => [`file${i}`, await store.put(content, fileName)] as const),
	);
	const parameters = { resource: 'file', operation: 'moveIn', sourceName: 'hubspot', preview: false, ...more };
	return { credential: sandbox.credential, parameters, files: Object.fromEntries(stored) };
}

/** The output for each file, by its name. */
async function moveIn(files: Record<string, string | Buffer>, more: IDataObject = {}, executionId?: string) {
	const { items, hints } = await run({ ...(await setupOf(files, more)), ...(executionId !== undefined && { executionId }) });
	const of = (name: string) => items.find(({ json }) => json.file === name)!;
	return { items, hints, of, text: async (name: string, field: string) => rowsOf(await store.text(of(name).binary![field])) };
}

const related = {
	'deals.csv': 'Id,Name,AccountId,ContactId\n7,First,2,11\n8,Second,3,\n',
	'people-1.csv': 'Id,Surname,AccountId\n11,Ada,1\n12,Bea,2\n13,Cleo,a1\n',
	'Accounts.csv': 'Id,Account Name,ParentId,Parent Account ID,Employees\n1,Daughter,,2,\n2,Mother,,,\n3,Wrong,,2,many\nA1,Other,,,\n',
};

const all = async () => await Promise.all(['companies', 'contacts', 'deals'].map(async (path) => await sandbox.list(path)));

describe('related files', () => {
	test('are imported in the order of their links, links within a type included', async () => {
		const preview = await moveIn(related, { preview: true });
		const { of, text, items } = await moveIn(related);
		expect(items.map(({ json }) => json.file)).toEqual(['Accounts.csv', 'people-1.csv', 'deals.csv', undefined]);
		for (const [name, type, created] of [['Accounts.csv', 'Company', 3], ['people-1.csv', 'Contact', 2], ['deals.csv', 'Deal', 1]] as const) {
			expect(of(name).json).toMatchObject({ record_type: type, created, failed: 1, matched_on: 'external_id' });
			expect(preview.of(name).json).toMatchObject({ record_type: type, ready: created, failed: 1 });
		}
		expect(preview.hints.join()).not.toContain('same ID');
		const [company] = await sandbox.list('companies?external_id=hubspot:1');
		const [mother] = await sandbox.list('companies?external_id=hubspot:2');
		const [contact] = await sandbox.list('contacts?external_id=hubspot:11');
		expect(company).toMatchObject({ parent_company_id: mother!.id });
		expect(contact).toMatchObject({ last_name: 'Ada', company_id: company!.id });
		expect(await sandbox.list('deals?external_id=hubspot:7')).toMatchObject([{ company_id: mother!.id, contact_id: contact!.id }]);
		expect((await text('people-1.csv', 'failed'))[0]).toMatchObject({ Id: '13' });
		expect(of('people-1.csv').binary!.failed!.fileName).toBe('people-1.failed.csv');
		expect(of('Accounts.csv').json.links).toMatchObject({ rows: 1, failed: 0 });
		expect(items.at(-1)!.json.comparison).toEqual([
			{ record_type: 'Company', files: ['Accounts.csv'], rows: 4, in_crm: 3, missing: 1, extra: 0, different: 0 },
			{ record_type: 'Contact', files: ['people-1.csv'], rows: 3, in_crm: 2, missing: 1, extra: 0, different: 0 },
			{ record_type: 'Deal', files: ['deals.csv'], rows: 2, in_crm: 1, missing: 1, extra: 0, different: 0 },
		]);
	});

	test('change nothing if they are imported a second time', async () => {
		const before = await all();
		const { of } = await moveIn(related);
		expect(of('people-1.csv').json).toMatchObject({ updated: 2, failed: 1 });
		expect(await all()).toEqual(before);
	});

	test('are compared with the CRM at the end: what is there too much, and what has other links', async () => {
		// Somebody moves Ada to another company, and the daughter to another mother, while the rest is written.
		const links: Record<string, string> = { '/v1/contacts': 'company_id', '/v1/companies': 'parent_company_id' };
		service.alter({
			answer(text, { url: { pathname, searchParams } }) {
				if (!searchParams.has('external_id[starts_with]')) return text;
				const body = JSON.parse(text) as { data: IDataObject[] };
				for (const record of body.data) if (/:11?$/.test(String(record.external_id))) record[links[pathname]!] = 'com_other';
				return JSON.stringify(body);
			},
		});
		const people = 'Id,Surname,AccountId\n11,Ada,1\n';
		const leads = 'Surname,Phone,AccountId\nDoe,,1\n';
		const files = { 'Accounts.csv': related['Accounts.csv'], 'people.csv': people, 'persons.csv': people, 'leads.csv': leads };
		const { items } = await run({ ...(await setupOf(files)), credential: service.credential });
		service.alter({});
		expect(items.at(-1)!.json.comparison).toMatchObject([
			{ files: ['Accounts.csv'], rows: 4, in_crm: 3, missing: 1, extra: 0, different: 1 },
			{ files: ['people.csv', 'persons.csv'], rows: 1, in_crm: 1, missing: 0, extra: 1, different: 1 },
		]);
	});

	test('are taken back by the undo that the result names', async () => {
		const before = await all();
		const others = Object.entries(related).map(([name, text]) => [name, text.replace(/\n(\d)/g, '\n5$1')]);
		const { of } = await moveIn(Object.fromEntries(others) as typeof related, {}, 'import-1');
		expect((await all()).flat()).not.toHaveLength(before.flat().length);
		const [, execution] = /An Execution → (.+)$/.exec(String(of('people-1.csv').json.undo))!;
		const { items } = await undoing(sandbox).undo(execution!);
		expect(items.every(({ result }) => result === 'undone')).toBe(true);
		expect(await all()).toEqual(before);
	});

	test('without IDs are written once if the node fails between two files and the execution is retried', async () => {
		const files = { 'companies.csv': 'Name\nRetried One\nRetried Two\n', 'contacts.csv': 'Surname,Company\nRetried,Retried One\n' };
		const setup = { ...(await setupOf(files)), credential: service.credential, executionId: 'retried', context: {} };
		let jobs = 0;
		service.alter({ request: ({ method }) => (method === 'POST' && ++jobs > 1 ? { status: 403, body: '{"code":"forbidden"}' } : undefined) });
		await expect(run(setup)).rejects.toThrow();
		service.alter({});
		await run({ ...setup, context: JSON.parse(JSON.stringify(setup.context)) as IDataObject });
		expect(await sandbox.list('companies?name[starts_with]=Retried')).toHaveLength(2);
		expect(await sandbox.list('contacts?last_name=Retried')).toMatchObject([{ company_id: expect.stringMatching(/^com_/) as string }]);
	});

	test('whose record type is unclear are shown in the preview, and are chosen by the user', async () => {
		const files = { 'export.csv': 'Record ID,Alias,Handy\n31,Clear,+49170555011\n' };
		const why = expect.stringContaining('Choose its record type') as string;
		expect((await moveIn(files, { preview: true })).items).toMatchObject([{ json: { record_type: null, why } }]);
		const choice = { file: 'export.csv', kind: 'contact', columns: 'Alias → last_name\nHandy →' };
		const { of } = await moveIn({ 'export.failed.csv': files['export.csv'] }, { files: { files: [choice] } });
		expect(of('export.failed.csv').json).toMatchObject({ created: 1, why: 'Chosen' });
		expect(await sandbox.list('contacts?external_id=hubspot:31')).toMatchObject([{ last_name: 'Clear', phone: null }]);
		const left = await moveIn(files, { files: { files: [{ ...choice, kind: 'none' }] } });
		expect(left.of('export.csv').json).toMatchObject({ record_type: null, why: 'Left out by choice.' });
	});

	test('are refused before a custom field is created for any of them', async () => {
		await sandbox.clear();
		const files = { 'contacts.csv': 'Surname,Shoe Size\nA,9\n', 'export.csv': 'Record ID,Alias,Handy\n31,Clear,+49170555011\n' };
		const choice = { file: 'export.csv', kind: 'contact', columns: 'Alias → nickname' };
		const unclear = /export\.csv: .*Choose its record type under Files\. Nothing was written/;
		for (const [chosen, message] of [[[], unclear], [[choice], /no single field “nickname”.*Nothing was written/]] as const) {
			const setup = await setupOf(files, { files: { files: chosen }, options: { createMissing: ['customFields'] } });
			expect((await failure(setup)).message).toMatch(message);
		}
		expect(await sandbox.writes()).toEqual([]);
	});

	test('may be sheets that items have as lists, and records of the custom object with the name of the file', async () => {
		const labels = { label_singular: 'Forklift', label_plural: 'Forklifts' };
		await sandbox.create('custom-objects', { key: 'forklift', primary_field: 'serial', ...labels });
		const resource = 'custom-objects/forklift/records';
		await sandbox.create('custom-fields', { resource, key: 'serial', label: 'Serial', type: 'text' });
		const reference = { key: 'customer', label: 'Customer', type: 'reference', reference_resource: 'companies' };
		await sandbox.create('custom-fields', { resource, ...reference });
		const forklifts = [{ Id: '1', Serial: 'A-1', 'Customer ID': '71' }, { Id: '2', Serial: 'A-2', 'Customer ID': 'Sheet Two' }];
		const rounded = { Id: 2 ** 53 + 2, Company: 'Sheet Three' };
		const companies = [{ Id: '71', Company: 'Sheet One' }, { Id: '72', Company: 'Sheet Two' }, rounded, null, undefined];
		const setup = await setupOf({});
		const { items } = await run({ credential: setup.credential, parameters: setup.parameters, items: [{ companies, forklifts }] });
		const noRecord = { row: 4, message: '“null” is not a JSON object such as { "name": "value" }.' };
		const lost = { row: 3, message: expect.stringContaining('its last digits may already be lost') };
		expect(items).toMatchObject([
			{ json: { file: 'companies', record_type: 'Company', created: 2, failed: 3, reasons: [{ ...noRecord, rows: 2 }, lost] } },
			{ json: { file: 'forklifts', record_type: 'Forklifts', created: 2, failed: 0 } },
			{ json: { comparison: [{ in_crm: 2 }, { record_type: 'Forklifts', in_crm: 2, missing: 0 }] } },
		]);
		const ids = (await sandbox.list('companies?external_id[starts_with]=hubspot:7')).map(({ id }) => id);
		const written = await sandbox.list<{ custom_fields: IDataObject }>(resource);
		expect(written.map(({ custom_fields: fields }) => fields.customer).sort()).toEqual(ids.sort());
	});

	test('are not the lists of an item that has files, such as those who may see a download', async () => {
		const upload = [{ filename: 'people.csv', mimetype: 'text/csv', size: 19 }];
		const reader = { id: '1', type: 'user', emailAddress: 'a@list.example', role: 'reader', displayName: 'A' };
		const permissions = [{ ...reader, kind: 'drive#permission', deleted: false, pendingOwner: false }];
		const owners = [{ kind: 'drive#user', displayName: 'A', me: true, permissionId: '1', emailAddress: 'a@list.example' }];
		const attachments = [{ contentType: 'text/csv', fileName: 'people.csv', contentId: '1', checksum: 'f00' }];
		const [contacts, sheet] = [[{ Surname: 'Listed' }], [{ Surname: 'Sheet', 'Job Title': 'Buyer' }]];
		const items = [{ permissions, owners, attachments, contacts, sheet, Companies: upload, upload }];
		const { items: results, hints } = await run({ ...(await setupOf({ 'people.csv': 'Surname\nDownloaded\n' })), items });
		expect(results).toMatchObject([{ json: { file: 'people.csv', created: 1 } }, { json: { comparison: [] } }]);
		expect(hints).toEqual([expect.stringMatching(/^Not imported, because .* files: contacts, sheet\. /)]);
	});

	test('without rows are left out, and those that cannot be read as well if the user chooses that', async () => {
		const unreadable = { 'readme.pdf': '%PDF-1.7\n\0', 'meta.json': '{"exported":1}', 'tasks.csv': '' };
		const files = { 'deals.csv': 'Id,Name\n', ...unreadable, 'people.csv': 'Surname\nRead\n' };
		const preview = await moveIn(files, { preview: true });
		expect(preview.of('people.csv').json).toMatchObject({ record_type: 'Contact', ready: 1 });
		expect(preview.of('deals.csv').json).toMatchObject({ record_type: null, why: 'Left out because it has no rows.' });
		for (const name of Object.keys(unreadable)) {
			expect(preview.of(name).json).toMatchObject({ record_type: null, why: expect.stringMatching(/choose Do Not Import .*Files/) });
		}
		const choices = Object.keys(unreadable).map((file) => ({ file, kind: 'none' }));
		const { message } = await failure(await setupOf(files, { files: { files: choices.slice(1) } }));
		expect(message).toMatch(/^readme\.pdf: The file .*choose Do Not Import for it under Files\. Nothing was written/);
		expect(await sandbox.list('contacts?last_name=Read')).toEqual([]);
		const { of } = await moveIn(files, { files: { files: choices } });
		expect(of('people.csv').json).toMatchObject({ created: 1 });
		expect(of('readme.pdf').json).toMatchObject({ record_type: null, why: 'Left out by choice.' });
	});

	test('are not called unreadable for a wrong choice or a failing store, whose error is thrown', async () => {
		const setup = await setupOf({ 'people.csv': 'Surname\nA\n' }, { options: { encoding: 'latin' } });
		const refusal = await failure(setup);
		expect(refusal.message).toMatch(/Encoding.*latin/);
		const lost = await setupOf({ 'people.csv': 'Surname\nA\n' }, { preview: true });
		const { id: _, ...file } = lost.files!.file0!;
		const { message } = await failure({ ...lost, files: { file0: { ...file, id: 'filesystem-v2:gone' } } });
		expect([refusal.message, message].join()).not.toContain('Do Not Import');
		expect(message).toContain('n8n could not read the file to the end');
	});

	test('are matched on the email if each row that can be read has one', async () => {
		const people = 'Surname,Email\nA,a@match.example\n"B,b@match.example\n';
		expect((await moveIn({ 'people.csv': people })).of('people.csv').json).toMatchObject({ matched_on: 'email', created: 1, failed: 1 });
		expect((await moveIn({ 'people.csv': people })).of('people.csv').json).toMatchObject({ updated: 1, failed: 1 });
		const broken = 'Surname,Email\n"A,a@match.example\n';
		expect((await moveIn({ 'people.csv': broken })).of('people.csv').json).toMatchObject({ matched_on: null, failed: 1 });
	});

	test('stay imported if the comparison at the end fails, which is said', async () => {
		let isWritten = false;
		service.alter({ request: ({ method, url }) => {
			isWritten ||= method === 'POST';
			return isWritten && url.searchParams.has('external_id[starts_with]') ? { status: 403, body: '{"code":"forbidden"}' } : undefined;
		} });
		const setup = await setupOf({ 'people.csv': 'Id,Surname\n991,Compared\n' });
		const { items, hints } = await run({ ...setup, credential: service.credential });
		service.alter({});
		expect(items[0]!.json).toMatchObject({ created: 1 });
		const why = expect.stringContaining('permission') as string;
		expect(items[1]!.json).toEqual({ comparison: [{ record_type: 'Contact', files: ['people.csv'], why }] });
		expect(hints).toEqual([expect.stringMatching(/^Contact: the rows were not compared with the CRM/)]);
	});

	test('wait with links of any kind, of records whose types link to each other', async () => {
		const reference = { key: 'main', label: 'Main', type: 'reference', reference_resource: 'contacts' };
		await sandbox.create('custom-fields', { resource: 'companies', ...reference });
		const tasks = '{"Id":"1","Title":"Call","links":[{"resource":"contacts","id":"951"}]}\n';
		const companies = 'Id,Name,Main\n961,Ring,951\n';
		const notes = tasks.replace('Title', 'Body');
		const contacts = 'Id,Surname,CompanyId\n951,C,961\n';
		await moveIn({ 'notes.ndjson': notes, 'tasks.ndjson': tasks, 'companies.csv': companies, 'contacts.csv': contacts });
		const [contact] = await sandbox.list('contacts?external_id=hubspot:951');
		for (const type of ['tasks', 'notes']) {
			expect(await sandbox.list(`${type}?external_id=hubspot:1`)).toMatchObject([{ links: [{ id: contact!.id }] }]);
		}
	});

	test('link by names: one that looks like an ID is a name, one that two records share is refused in the preview, too', async () => {
		await sandbox.create('companies', { name: 'Twin_2024_Known', external_id: 'hubspot:81' });
		await sandbox.create('companies', { name: 'Twin_2024_Other' });
		const files = {
			'companies.csv': 'Id,Name\n81,Twin_2024_Known\n82,Messe2024_Halle\n83,Twin_2024_Other\n84,Twin_2024\n85,Twin_2024\n',
			'contacts.csv': 'Id,Surname,Company\n91,A,Twin_2024_Known\n92,B,Messe2024_Halle\n93,C,Twin_2024_Other\n94,D,Twin_2024\n',
		};
		const preview = await moveIn(files, { preview: true });
		const { of } = await moveIn(files);
		const message = expect.stringContaining('may match several records of companies, such as') as string;
		const reasons = [4, 5].map((row) => ({ row, message }));
		expect(preview.of('contacts.csv').json).toMatchObject({ ready: 2, failed: 2, reasons });
		expect(of('contacts.csv').json).toMatchObject({ created: 2, failed: 2, reasons });
		const [company] = await sandbox.list('companies?external_id=hubspot:82');
		expect(await sandbox.list('contacts?external_id=hubspot:92')).toMatchObject([{ company_id: company!.id }]);
	});

	test('fail as a whole if the credential cannot read the records that they link to', async () => {
		const setup = { ...(await setupOf({ 'contacts.csv': 'Surname,Owner,Company\nA,Ann Smith,\nB,,\n' })), credential: service.credential };
		service.alter({ request: ({ url }) => (url.pathname === '/v1/users' ? { status: 403, body: '{"code":"forbidden"}' } : undefined) });
		await expect(run(setup)).rejects.toMatchObject({ httpCode: '403' });
		service.alter({});
	});

	test('are compared after their links, of which two rows may have one, were written', async () => {
		const header = 'Id,Account Name,ParentId,Employees\n';
		const files = { 'Accounts.csv': `${header}3,Wrong,2,many\n`, 'companies.csv': `${header}1,A,2,\n2,B,,\n1,A,2,\n` };
		const { of, items } = await moveIn(files);
		expect(of('Accounts.csv').json).toMatchObject({ failed: 1, links: { rows: 0 } });
		expect(items.at(-1)!.json.comparison).toMatchObject([{ rows: 3, in_crm: 2, missing: 1, different: 0 }]);
	});

	test('link to no domain with other accents in the preview, as in the import', async () => {
		const files = {
			'companies.csv': 'Id,Name,Domain\n86,Umlaut,müller.example\n',
			'contacts.csv': 'Id,Surname,Company\n96,A,Müller.example\n97,B,muller.example\n',
		};
		const { of } = await moveIn(files, { preview: true });
		expect(of('contacts.csv').json).toMatchObject({ failed: 1, reasons: [{ row: 3 }] });
	});

	test('have links that lead nowhere, or may not be written, in a file that can be imported again', async () => {
		const reference = { resource: 'contacts', type: 'reference', reference_resource: 'contacts' };
		for (const label of ['Boss', 'Deputy']) await sandbox.create('custom-fields', { ...reference, key: label.toLowerCase(), label });
		const companies = 'Id,Account Name,ParentId\n21,A,22\n22,B,29\n';
		const people = 'Id,Surname,Boss,Deputy\n21,A,22,29\n22,B,21,\n';
		const options = { refusedValues: 'leaveOut' };
		const { of, hints, text, items } = await moveIn({ 'Accounts.csv': companies, 'people.csv': people }, { options });
		expect(of('people.csv').json.links).toMatchObject({ rows: 2, failed: 0, left_out: 1 });
		const message = expect.stringContaining('“29” is not known as an ID of the other system') as string;
		expect(of('Accounts.csv').json.links).toMatchObject({ rows: 2, failed: 1, reasons: [{ row: 3, message }] });
		const hint = '1 links to records of the same files were not written. The file “unlinked” has them with the reasons.';
		expect(hints).toEqual([`Accounts.csv: ${hint}`, `people.csv: ${hint}`]);
		expect(items.at(-1)!.json.comparison).toMatchObject([{ different: 1 }, {}]);
		const [row] = await text('people.csv', 'unlinked');
		expect(row).toMatchObject({ Id: '21', Surname: 'A', Boss: '22', Deputy: '29', import_error_field: 'custom_fields.deputy' });
		// No result of the links, which the second job writes.
		const jobs = new Set<string>();
		const isOfLinks = (path: string) => path.endsWith('/results') && jobs.add(path).size > 1;
		service.alter({ answer: (body, { url }) => (isOfLinks(url.pathname) ? body.replace('"status":200', '"status":500') : body) });
		const before = await all();
		const unlinked = await store.text(of('people.csv').binary!.unlinked);
		const again = await run({ ...(await setupOf({ 'people.csv': unlinked.replace(',29,', ',22,') })), credential: service.credential });
		service.alter({});
		expect(again.items[0]!.json).toMatchObject({ updated: 1, links: { failed: 0, unknown: 1 } });
		expect(again.hints).toEqual([expect.stringContaining('For 1 rows with links') as string]);
		expect(again.items[0]!.binary).toHaveProperty('unlinked');
		expect((await all()).flat()).toHaveLength(before.flat().length);
	});

	test('are refused before anything is written if the CRM replaces whole records, and links must be added later', async () => {
		service.alter({ answer: (body) => body.replace(/("\/v1\/companies\/{id}":.*?)"patch":/s, '$1"put":') });
		await sandbox.clear();
		const files = await setupOf({ 'Accounts.csv': 'Id,Name,ParentId\n61,A,62\n62,B,\n' });
		const csv = await store.put('id,name\ncom_1,A\n');
		const updating = { resource: 'file', kind: 'company', operation: 'importFile', binaryField: 'data', preview: false, importAs: 'update' };
		for (const setup of [files, { parameters: updating, files: { data: csv } }]) {
			const { message } = await failure({ ...setup, credential: service.credential });
			expect(message).toMatch(/replaces whole records \(PUT\).*(Leave out the columns of the links|use Update)/);
		}
		service.alter({});
		expect(await sandbox.writes()).toEqual([]);
	});

	test('clear links that are empty, if the user wants that', async () => {
		await moveIn({ 'Accounts.csv': 'Id,Name,ParentId\n51,A,52\n52,B,\n' });
		await moveIn({ 'Accounts.csv': 'Id,Name,ParentId\n51,A,\n52,B,51\n' }, { options: { emptyCells: 'clear' } });
		expect(await sandbox.list('companies?external_id=hubspot:51')).toMatchObject([{ parent_company_id: null }]);
	});

	test('need the name of their system, and at least one file, and none that cannot be read', async () => {
		expect((await failure(await setupOf(related, { sourceName: '' }))).message).toContain('Source Name is empty');
		expect((await failure(await setupOf({}))).message).toContain('The input has no files');
		const mistaken = await setupOf(related, { files: { files: [{ file: 'people-1.csv', kind: 'contacts' }] } });
		expect((await failure(mistaken)).message).toMatch(/Files → Record Type.*contacts/);
		await sandbox.clear();
		const latin = Buffer.from('Surname\nMu\xf1oz\n', 'latin1');
		expect((await failure(await setupOf({ ...related, 'old.csv': latin }))).message).toMatch(/^old\.csv: The file is not UTF-8/);
		const broken = gzipSync(related['Accounts.csv']).subarray(0, -9);
		expect((await failure(await setupOf({ ...related, 'a.csv.gz': broken }))).message).toMatch(/^a\.csv\.gz: .*damaged/);
		const chosen = [['persons.csv'], ['people-1.csv', 'people-1.csv']].map((names) => names.map((file) => ({ file, kind: 'contact' })));
		const [other, twice] = await Promise.all(chosen.map(async (files) => await failure(await setupOf(related, { files: { files } }))));
		expect(other!.message).toMatch(/File Name: the input has no file “persons\.csv”\. Its files are deals\.csv, people-1\.csv/);
		expect(twice!.message).toMatch(/File Name: the file “people-1\.csv” is there twice/);
		expect(await sandbox.writes()).toEqual([]);
	});
});
