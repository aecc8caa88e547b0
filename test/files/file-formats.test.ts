import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';

import { parseJson } from '../../nodes/CrmPlatform/base/json';
import { readCsv } from '../../nodes/CrmPlatform/files/csvReader';
import { csvCells, csvRow, unescapedCell } from '../../nodes/CrmPlatform/files/csvWriter';
import { decodeText, type Encoding, readJsonArray, readNdjson } from '../../nodes/CrmPlatform/files/rows';
import { randomRuns } from '../support/random-runs.ts';

/** The text in chunks of at most that many characters. */
async function* chunked<Text extends string | Uint8Array>(text: Text, size: number) {
	for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size) as Text;
}

async function all<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
	const found: Row[] = [];
	for await (const row of rows) found.push(row);
	return found;
}

/** The rows of all chunks. */
const allRows = async <Row>(chunks: AsyncIterable<Row[]>): Promise<Row[]> => (await all(chunks)).flat();

const contents = async (text: string, size = 7, delimiter?: string) =>
	(await allRows(readCsv(chunked(text, size), delimiter))).map(({ content }) => content);

const cell = fc.oneof(
	fc.string({ maxLength: 8 }),
	fc.stringMatching(/^[",;\t|\r\n a']{0,6}$/),
	fc.string({ unit: 'grapheme', maxLength: 4 }),
);

test('reads what another library writes, in any dialect and however it is cut into chunks', async () => {
	const table = fc
		.integer({ min: 1, max: 4 })
		.chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }));
	const dialect = fc.record({
		delimiter: fc.constantFrom(',', ';', '\t', '|'),
		record_delimiter: fc.constantFrom('\n', '\r\n', '\r'),
		quoted: fc.boolean(),
		size: fc.integer({ min: 1, max: 20 }),
	});
	await fc.assert(
		fc.asyncProperty(table, dialect, async (rows, { size, ...options }) => {
			// The library itself does not quote line ends of other kinds.
			const text = stringify(rows, { ...options, quoted_match: /[\r\n]|^$/ });
			expect(await contents(text, size, options.delimiter)).toEqual(rows);
		}),
		randomRuns(300),
	);
});

test('another library reads the written file, and it can be read again unchanged', async () => {
	const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }), { minLength: 1, maxLength: 8 });
	await fc.assert(
		fc.asyncProperty(rows, fc.constantFrom(',', ';'), async (table, delimiter) => {
			const text = table.map((row) => `${csvCells(row, delimiter)}\r\n`).join('');
			const read: string[][] = parse(text, { delimiter, record_delimiter: '\r\n' });
			expect(read.map((row) => row.map(unescapedCell))).toEqual(table);
			expect(await contents(text, 5, delimiter)).toEqual(read);
		}),
		randomRuns(300),
	);
});

test.each([
	['name;mail\nAda;ada@example.com', ';'],
	['name\tmail\nAda\tada@example.com', '\t'],
	['"a;b;c",mail\nAda,ada@example.com', ','],
	['name\nAda', ','],
	['Leads, all of them, 2026\nname;mail\nAda;ada@example.com', ';'],
	['name;revenue\nAda;1,50\nBob;2,75', ';'],
])('the delimiter of %j is recognized', async (text, delimiter) => {
	expect((await contents(text)).at(-1)).toEqual((await contents(text, 3, delimiter)).at(-1));
});

test('empty lines are skipped, and a missing line end ends the last one', async () => {
	expect(await contents('a,b\n\n\r\n1,2\n\n3,""')).toEqual([['a', 'b'], ['1', '2'], ['3', '']]);
});

test('reading stops after too many unreadable rows', async () => {
	await expect(allRows(readCsv(chunked('"a"b\n'.repeat(1_200), 999)))).rejects.toThrow('1000 rows cannot be read');
});

test.each(['=1+1', '+cmd|x', '-2+a', '@SUM(A1)', '\tx', "'=1", "''=1"])(
	'a spreadsheet does not execute %j, and it can be read back',
	(text) => {
		const table: string[][] = parse(csvRow([text]));
		const cellText = table[0]?.[0] ?? '';
		expect(cellText).toBe(`'${text}`);
		expect(unescapedCell(cellText)).toBe(text);
	},
);

test.each(['+49 (30) 1234-5', '-12.5', "it's", "'quoted'", 'a=b'])('%j is written unchanged', (text) => {
	expect(parse(csvRow([text]))).toEqual([[text]]);
	expect(unescapedCell(text)).toBe(text);
});

describe('encodings', () => {
	const text = 'Zoë,Łódź 😀';
	const utf16be = Buffer.from(text, 'utf16le').swap16();
	test.each<[string, Buffer, Encoding]>([
		['UTF-8', Buffer.from(text), 'auto'],
		['UTF-8 with a byte-order mark', Buffer.from(`\ufeff${text}`), 'auto'],
		['UTF-16 with a byte-order mark', Buffer.from(`\ufeff${text}`, 'utf16le'), 'auto'],
		['big-endian UTF-16', Buffer.concat([Buffer.from([0xfe, 0xff]), utf16be]), 'auto'],
		['big-endian UTF-16 without a mark', utf16be, 'utf-16be'],
	])('%s is read however it is divided into chunks', async (_, bytes, encoding) => {
		for (const size of [1, 2, 3, 5, 1_000]) {
			expect((await all(decodeText(chunked(bytes, size), encoding))).join('')).toBe(text);
		}
	});
});

describe('JSON', () => {
	const record = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));

	test('records are read unchanged, from lines and from an array', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(record), fc.integer({ min: 1, max: 9 }), async (records, size) => {
				const expected = records.map((entry) => parseJson(JSON.stringify(entry)));
				const lines = records.map((entry) => `${JSON.stringify(entry)}\n`).join('');
				const read = await allRows(readNdjson(chunked(lines, size)));
				expect(read.map(({ content }) => content)).toEqual(expected);
				const array = JSON.stringify(records, null, size % 3);
				const elements = await allRows(readJsonArray(chunked(array, size)));
				expect(elements.map(({ content }) => content)).toEqual(expected);
			}),
			randomRuns(100),
		);
	});

	test.each(['', 'nonsense', '{"a":1}', '[{"a":1},]', '[{"a":1}', '[{"a":1}] more', '[,]'])(
		'%j is not an array of records',
		async (text) => {
			await expect(allRows(readJsonArray(chunked(text, 2)))).rejects.toThrow(/JSON array/);
		},
	);

	test('a line of many megabytes ends the reading without being stored, and such an array is refused', async () => {
		async function* endless(open: string, close: string) {
			yield open;
			for (let i = 0; i < 200; i++) yield 'x'.repeat(100_000);
			yield close;
		}
		await expect(allRows(readJsonArray(endless('[{"a":"', '"}]')))).rejects.toThrow(/larger than 16 MB\. Save it as NDJSON/);
		const lines = readNdjson(endless('{"a":1}\n{"a":"', '"}\n{"a":2}\n'));
		expect((await lines.next()).value).toEqual([{ row: 1, content: { a: 1 } }]);
		await expect(allRows(lines)).rejects.toThrow('Record 2 is longer than 1 MB');
	});
});
