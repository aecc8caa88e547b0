import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { unescapedCell } from '../../nodes/CrmPlatform/files/csvWriter';
import type { FileRow } from '../../nodes/CrmPlatform/files/fileRow';
import { readFileRecords, type FileSettings } from '../../nodes/CrmPlatform/files/rows';
import { surveyFile } from '../../nodes/CrmPlatform/importing/fileSurvey';
import { isBlank } from '../../nodes/CrmPlatform/values/blank';
import { randomRuns } from '../support/random-runs.ts';

async function* chunked(bytes: Uint8Array, size: number) {
	for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const csv: FileSettings = { format: 'csv', encoding: 'auto' };

async function recordsOf(bytes: Uint8Array, settings: Partial<FileSettings> = {}, size = 64) {
	const file = await readFileRecords(chunked(bytes, size), { ...csv, ...settings });
	const rows: Array<FileRow<IDataObject>> = [];
	let error: Error | undefined;
	try {
		for await (const some of file.rows) rows.push(...some);
	} catch (thrown) {
		error = thrown as Error;
	}
	return { file, rows, error };
}

const utf32le = (text: string) => Buffer.concat([...text].map((character) => {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32LE(character.codePointAt(0)!);
	return bytes;
}));
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();
/** Each encoding, and the bytes of a text in it. */
const encodings = new Map<string, (text: string) => Buffer>([
	['UTF-8', (text) => Buffer.from(text)],
	['UTF-8 with a mark', (text) => Buffer.from(`\ufeff${text}`)],
	['UTF-16 without a mark', (text) => Buffer.from(text, 'utf16le')],
	['UTF-16 with a mark', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
	['big-endian UTF-16 without a mark', utf16be],
	['big-endian UTF-16 with a mark', (text) => utf16be(`\ufeff${text}`)],
	['UTF-32 without a mark', utf32le],
	['UTF-32 with a mark', (text) => utf32le(`\ufeff${text}`)],
	['big-endian UTF-32', (text) => utf32le(`\ufeff${text}`).swap32()],
	['Latin-1', (text) => Buffer.from(text, 'latin1')],
]);

const cell = fc.oneof(
	fc.string({ maxLength: 6 }), fc.string({ unit: 'grapheme', maxLength: 4 }), fc.stringMatching(/^[àé€,;"\n sep='+=\0]{0,5}$/),
);
const table = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 6 });
const damage = fc.option(fc.tuple(fc.nat(400), fc.uint8Array({ minLength: 1, maxLength: 3 })), { nil: undefined });
const chunkSize = fc.integer({ min: 1, max: 40 });

test('whatever the bytes, a record has the text of the file, or the user is warned', async () => {
	await fc.assert(
		fc.asyncProperty(table, fc.constantFrom(...encodings.keys()), damage, chunkSize, async (rows, name, broken, size) => {
			const text = stringify([['last_name', 'email'], ...rows], { quoted: true });
			const bytes = encodings.get(name)!(text);
			if (broken) bytes.set(broken[1].subarray(0, Math.max(0, bytes.length - broken[0])), Math.min(broken[0], bytes.length));
			const read = await recordsOf(bytes, {}, size).catch((error: Error) => ({ error, rows: [] }));
			for (const { content } of read.rows) for (const value of Object.values(content ?? {})) expect(value).not.toMatch(/\0/);
			const isReported = read.error !== undefined || read.rows.some(({ problem }) => problem !== undefined);
			if (isReported) return;
			// Without a report, the node has read what another library reads.
			const encoding = name.startsWith('UTF-16 with ') ? 'utf-16le' : name.startsWith('big-endian UTF-16 with ') ? 'utf-16be' : 'utf-8';
			const decoder = new TextDecoder(encoding, { fatal: true });
			const expected: string[][] = parse(decoder.decode(bytes), { relax_column_count: true, relax_quotes: true, skip_empty_lines: true });
			const records = expected.slice(1).filter((record) => !record.every(isBlank));
			const actual = read.rows.map(({ content }) => Object.values(content!));
			// The apostrophe that keeps spreadsheets from running a formula is not part of its text.
			expect(actual).toEqual(records.map((record) => record.slice(0, 2).map(unescapedCell)));
		}),
		randomRuns(1_500),
	);
});

const withNulls = [...encodings.keys()].filter((name) => /32|16 without/.test(name));
test.each(withNulls)('%s is refused with advice, and read if chosen', async (name) => {
	const bytes = encodings.get(name)!('last_name,email\nZoë,a@b.example\n');
	for (const format of ['csv', 'json', 'ndjson'] as const) {
		const reading = recordsOf(bytes, { format }).then(({ error }) => { throw error ?? new Error('It was read'); });
		await expect(reading).rejects.toThrow(/NUL characters.*UTF-16.*UTF-8/);
	}
	const chosen = name.startsWith('big') ? 'utf-16be' : 'utf-16le';
	if (name.includes('UTF-32')) return;
	expect((await recordsOf(bytes, { encoding: chosen })).rows).toEqual([{ row: 2, content: { last_name: 'Zoë', email: 'a@b.example' } }]);
});

test('a byte order mark that contradicts the chosen encoding is refused', async () => {
	const bytes = encodings.get('UTF-8 with a mark')!('last_name\nZoë\n');
	await expect(recordsOf(bytes, { encoding: 'windows-1252' })).rejects.toThrow(/mark of UTF-8, but WINDOWS-1252 is chosen/);
	expect((await recordsOf(bytes, { encoding: 'utf-8' })).rows).toEqual([{ row: 2, content: { last_name: 'Zoë' } }]);
});

test('a NUL in the middle ends the reading', async () => {
	const { error } = await recordsOf(Buffer.from('a,b\n1,2\n3,4\n5,\0\n7,8\n'), { delimiter: ',' }, 5);
	expect(error?.message).toMatch(/NUL/);
});

test('an unreadable row is reported with its text', async () => {
	const text = 'a;b\n1;"2"x\n3;4;5\n"6\n7;8\n';
	for (const size of [1, 4, 100]) {
		const { rows } = await recordsOf(Buffer.from(text), {}, size);
		expect(rows.map((row) => (row.problem === undefined ? row.content : row.text))).toEqual(['1;"2"x', '3;4;5', '"6', { a: '7', b: '8' }]);
	}
	const ndjson = await recordsOf(Buffer.from('{"a":1}\n{"a":" "}\n{"a":\n[1, 2]\n'), { format: 'ndjson' });
	expect(ndjson.rows.map((row) => row.problem && row.text)).toEqual([undefined, '{"a":', '[1, 2]']);
	const array = await recordsOf(Buffer.from('[{"a":1}, [1, 2]]'), { format: 'json' });
	expect(array.rows.map((row) => row.problem && row.text)).toEqual([undefined, '[1,2]']);
});

test('a file is closed if the options for its values are wrong', async () => {
	let isOpen = true;
	async function* rows() {
		try {
			for (;;) yield await Promise.resolve(Buffer.from('a,b\n'.repeat(50)));
		} finally {
			isOpen = false;
		}
	}
	const file = await readFileRecords(rows(), csv);
	expect(isOpen).toBe(true);
	const n8n = { getNodeParameter: (name: string) => (name === 'options.valuesIn.notation' ? { phoneCountry: 'XX' } : []) };
	await expect(surveyFile(n8n as unknown as IExecuteFunctions, file)).rejects.toThrow('Default Country for Phones');
	expect(isOpen).toBe(false);
});
