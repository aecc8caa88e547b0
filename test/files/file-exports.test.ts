import { gunzipSync } from 'node:zlib';

import { alteredService, redescribe } from '../support/altered-service.ts';
import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns, rowsOf } from '../support/file-runs.ts';
import { filterRows } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const store = useBinaryStore();
const service = alteredService(sandbox, true);
const { importOf, exportOf } = fileRuns(sandbox, store);

describe('an export', () => {
	test('takes the filters, order and fields of Get Many', async () => {
		await importOf('last_name,email\nB,b@export.example\nA,a@export.example\nC,c@other.example\n');
		const { json, text } = await exportOf({
			filters: filterRows({ 'email[contains]': 'export.example' }),
			options: { sort: 'last_name', outputFields: ['last_name', 'email'] },
		});
		expect(json).toMatchObject({ records: 2 });
		expect(text).toBe('\uFEFFLast Name,Email\r\nA,a@export.example\r\nB,b@export.example\r\n');
	});

	test.each([
		['-created_at', false],
		['last_name,created_at', true],
	])('sorted by %s is told that records which change meanwhile may be missing: %s', async (sort, isTold) => {
		const { hints } = await exportOf({ filters: filterRows({ email: 'nobody@order.example' }), options: { sort } });
		expect(hints.join().includes('changed during the export')).toBe(isTold);
	});

	test('sorted by the time of creation is told nothing, although lists cannot be filtered by it', async () => {
		redescribe(service, ({ paths }) => {
			const get = paths['/v1/contacts']!.get!;
			get.parameters = get.parameters!.filter(({ name }) => name !== 'created_at[lt]');
		});
		const sorted = { filters: filterRows({ email: 'nobody@order.example' }), options: { sort: 'created_at' } };
		const { hints } = await fileRuns(service, store).exportOf(sorted);
		expect(hints).toEqual([]);
	});

	test('removes NUL characters, which CSV cannot contain, and reports it: the file can be imported again', async () => {
		await sandbox.create('contacts', { last_name: 'a\u0000b', email: 'n@nul.example' });
		const reading = { filters: filterRows({ 'email[contains]': 'nul.example' }), options: { outputFields: ['last_name', 'email'] } };
		const { text, hints } = await exportOf(reading);
		expect(text).toContain('ab,n@nul.example');
		expect(hints.join()).toContain('1 rows had NUL characters');
		await sandbox.create('contacts', { last_name: 'a\ud83d', email: 'h@half.example' });
		const halves = await exportOf({ ...reading, filters: filterRows({ 'email[contains]': 'half.example' }) });
		expect(halves.hints.join()).toContain('1 rows had NUL characters or halves of characters');
		expect((await exportOf({ ...reading, fileFormat: 'ndjson' })).text).toContain('a\\u0000b');
		expect((await importOf(text, { importAs: 'upsert', options: { matchOn: 'email' } })).json).toMatchObject({ done: 1 });
	});

	test('is split into parts of the chosen number of rows, one in each output item', async () => {
		const rows = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name},${name}@parts.example\n`);
		await importOf(`last_name,email\n${rows.join('')}`);
		const { items } = await exportOf({
			filters: filterRows({ 'email[contains]': 'parts.example' }),
			options: { sort: 'last_name', outputFields: ['last_name'], rowsPerFile: 2, fileName: 'people.csv' },
		});
		expect(items.map(({ json }) => json)).toMatchObject([2, 2, 1].map((records, i) => ({ records, part: i + 1, parts: 3 })));
		expect(items.map(({ binary }) => binary?.data?.fileName)).toEqual(['people-1.csv', 'people-2.csv', 'people-3.csv']);
		const texts = await Promise.all(items.map(async ({ binary }) => await store.text(binary?.data)));
		expect(texts.map((text) => rowsOf(text).map((row) => row['Last Name']))).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
	});

	test('that is compressed is unpacked by the import', async () => {
		const rows = Array.from({ length: 200 }, (_, i) => `N${i},${i}@gzip.example\n`);
		await importOf(`last_name,email\n${rows.join('')}`);
		const query = { filters: filterRows({ 'email[contains]': 'gzip.example' }) };
		const { items } = await exportOf({ ...query, options: { outputFields: ['id', 'last_name'], compress: true } });
		const file = items[0]?.binary?.data;
		expect(file).toMatchObject({ fileName: 'contacts.csv.gz', mimeType: 'application/gzip' });
		const bytes = await store.bytes(file);
		expect(rowsOf(gunzipSync(bytes).toString('utf8'))).toHaveLength(200);
		const { json } = await importOf(bytes, { importAs: 'delete' });
		expect(json).toMatchObject({ deleted: 200, failed: 0 });
		expect((await exportOf(query)).json).toMatchObject({ records: 0 });
	});

	test('without records is a file with only a header', async () => {
		const { json, text } = await exportOf({
			filters: filterRows({ 'email[contains]': 'nobody.example' }),
			options: { outputFields: ['email'], rowsPerFile: 10 },
		});
		expect(json).toMatchObject({ records: 0, part: 1, parts: 1 });
		expect(text).toBe('\uFEFFEmail\r\n');
	});

	test('is new in each execution, whatever another operation has left in the options', async () => {
		const query = { filters: filterRows({ 'email[contains]': 'left.example' }), options: { writeOncePer: 'A-17' } };
		expect((await exportOf(query)).json).toMatchObject({ records: 0 });
		await importOf('last_name,email\nA,a@left.example\n');
		expect((await exportOf(query)).json).toMatchObject({ records: 1 });
	});
});
