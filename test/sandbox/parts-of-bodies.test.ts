import { gzipSync } from 'node:zlib';
import { JobLines } from '../../sandbox/core/store/job-lines.ts';
import { inProcess, type InProcess } from './harness/in-process.ts';
import { maxPerTurn } from './harness/max-per-turn.ts';
import { ended, people, runJob, startJob } from './harness/job-client.ts';

let sandbox: InProcess;
beforeEach(() => void (sandbox = inProcess()));
afterEach(() => jest.restoreAllMocks());

const gzip = { 'Content-Encoding': 'gzip' };

const streamOf = (parts: string[]) =>
	new ReadableStream({
		start(controller) {
			for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
			controller.close();
		},
	});

test('requests are answered between the parts of a job’s results, however quickly they are read', async () => {
	const { job } = await runJob(sandbox, 'create', people(1500));
	const pages = jest.spyOn(JobLines.prototype, 'page');
	const download = sandbox.get(`/v1/jobs/${job.id}/results`);
	expect(await maxPerTurn(pages, download)).toBe(1);
	expect((await download).body).toHaveLength(1500);
	expect(pages.mock.calls.length).toBeGreaterThan(5);
});

test('requests are answered between the parts of an upload, however quickly it arrives', async () => {
	const lines = people(200).map((person) => `${JSON.stringify(person)}\n`);
	const transactions = jest.spyOn(sandbox.store, 'transaction');
	const upload = startJob(sandbox, 'create', streamOf(lines));
	const maxCalls = await maxPerTurn(transactions, upload);
	expect(maxCalls).toBeLessThan(10);
	expect((await ended(sandbox, (await upload).body.id)).succeeded).toBe(200);
});

test('a compressed file may have several members, as pigz and cat write them', async () => {
	const { send, all } = sandbox;
	const members = new Uint8Array(Buffer.concat(['{"last_', 'name":"', 'Zip"}', ''].map((text) => gzipSync(text))));
	expect((await send('POST', '/v1/contacts', members, gzip)).body.last_name).toBe('Zip');
	const texts = people(300).map((person) => JSON.stringify(person)).join('\n').match(/[^]{1,500}/g)!;
	const file = new Uint8Array(Buffer.concat(texts.map((text) => gzipSync(text))));
	const { body } = await startJob(sandbox, 'upsert&match_on=external_id', file, gzip);
	expect((await ended(sandbox, body.id)).succeeded).toBe(300);
	expect((await all('/v1/contacts')).length).toBe(301);
});

test.each([
	['breaks off', (file: Buffer) => file.subarray(0, -12)],
	['has other text behind it', (file: Buffer) => Buffer.concat([file, Buffer.from('{"last_name":"lost"}\n')])],
	['has another sum', (file: Buffer) => Buffer.concat([file.subarray(0, -8), Buffer.alloc(8)])],
	['has a member behind a zero byte', (file: Buffer) => Buffer.concat([file, Buffer.alloc(8), file])],
	['ends with zeros', (file: Buffer) => Buffer.concat([file, Buffer.alloc(8)])],
	['has a broken second member', (file: Buffer) => Buffer.concat([file, file.subarray(0, 15)])],
])('a compressed body that %s is refused, and nothing is written', async (_, broken) => {
	const file = broken(gzipSync(people(50).map((person) => `${JSON.stringify(person)}\n`).join('')));
	const response = await startJob(sandbox, 'create', new Uint8Array(file), gzip);
	expect([response.status, response.body.code]).toEqual([400, 'malformed_json']);
	for (const list of ['jobs', 'contacts']) expect((await sandbox.get(`/v1/${list}`)).body.total).toBe(0);
});

test('the size of the content of a compressed body counts, unless it is mostly something else', async () => {
	const { send } = sandbox;
	const body = JSON.stringify({ last_name: 'Zip', padding: '' });
	const padded = `${' '.repeat(1024 * 1024 - body.length)}${body}`;
	const stored = await send('POST', '/v1/contacts', new Uint8Array(gzipSync(padded, { level: 0 })), gzip);
	expect([stored.status, stored.body.code]).toEqual([422, 'validation_failed']);
	const more = await send('POST', '/v1/contacts', new Uint8Array(gzipSync(` ${padded}`, { level: 0 })), gzip);
	expect([more.status, more.body.code]).toEqual([413, 'payload_too_large']);
	const empty = gzipSync('');
	const empties = new Uint8Array(Buffer.concat(Array.from({ length: Math.ceil((2 * 1024 * 1024) / empty.length) }, () => empty)));
	expect((await startJob(sandbox, 'create', empties, gzip)).body.code).toBe('payload_too_large');
});

test('lines keep their numbers, whatever empty lines are between them and however they are split', async () => {
	const text = '\n\n{"last_name":"a"}\n\n\n \n{"last_name":"b"}\n\n';
	for (const size of [1, 2, 7, 100]) {
		const parts = text.match(new RegExp(`[^]{1,${size}}`, 'g'))!;
		const { results } = await runJob(sandbox, 'create', streamOf(parts));
		expect(results.map(({ index }) => index)).toEqual([2, 6]);
	}
});
