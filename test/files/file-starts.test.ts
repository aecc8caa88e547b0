import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';

import { alteredService } from '../support/altered-service.ts';
import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns } from '../support/file-runs.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';

shortenWaits();

const sandbox = useSandbox({ contacts: 0 });
const service = alteredService(sandbox);
const { importOf } = fileRuns(service, useBinaryStore());

const isStart = ({ method, url }: { method: string; url: URL }) => method === 'POST' && url.pathname === '/v1/jobs';
const forbidden = { status: 403, body: '{"code":"forbidden"}' };

test('a job that the CRM may have accepted is kept, whatever later attempts return', async () => {
	const csv = `last_name,email,Company\n${[0, 1, 2, 3].map((i) => `N,${i}@kept.example,${i === 1 ? 'Kept & Co' : ''}\n`).join('')}`;
	const again = { executionId: 'kept', context: {} };
	let starts = 0;
	service.alter({
		request: (request) => (isStart(request) && ++starts > 1 ? forbidden : undefined),
		answer: (text, request) => (isStart(request) ? undefined : text),
	});
	await expect(importOf(csv, {}, again)).rejects.toMatchObject({ httpCode: '403' });
	await sandbox.create('companies', { name: 'Kept & Co' });
	await expect(importOf(csv, {}, again)).rejects.toMatchObject({ httpCode: '403' });
	service.alter({});
	expect((await importOf(csv, {}, again)).json).toMatchObject({ rows: 4, created: 3, failed: 1 });
	const { body } = await sandbox.call('GET', '/v1/contacts?email[contains]=kept.example');
	expect((body.data as IDataObject[]).map(({ email }) => email).sort()).toEqual([0, 2, 3].map((i) => `${i}@kept.example`));
});

test('a failing import waits for the responses to the jobs it has sent, even the latest', async () => {
	let starts = 0;
	service.alter({
		async request(request) {
			if (!isStart(request)) return;
			if (++starts === 1) {
				while (starts < 2) await pause(10);
				return forbidden;
			}
			// Another job was refused long before.
			await pause(1_000);
			return { status: 202, body: '{"id":"job_latest","status":"queued"}' };
		},
	});
	const again = { executionId: 'latest', context: {} };
	await expect(importOf(`last_name,email\n${'N,\n'.repeat(7_500)}`, {}, again)).rejects.toMatchObject({ httpCode: '403' });
	expect(JSON.stringify(again.context)).toContain('job_latest');
});

test('a job is not started after another one was refused, even if the one before it has yet to end', async () => {
	let starts = 0;
	service.alter({ request: (request) => (isStart(request) && ++starts === 2 ? forbidden : undefined) });
	// Five rows make a job.
	await expect(importOf(`last_name,Filler\n${`N,${'x'.repeat(900_000)}\n`.repeat(20)}`)).rejects.toMatchObject({ httpCode: '403' });
	expect(starts).toBeLessThan(4);
});

test('n8n’s own store of files that breaks off fails the import of a compressed file, and a retry continues', async () => {
	// Of five rows that are hard to compress, a job is sent before the end.
	const rows = Array.from({ length: 12 }, (_, i) => `N,${i}@broken.example,${randomBytes(450_000).toString('hex')}\n`);
	const file = gzipSync(`last_name,email,Filler\n${rows.join('')}`);
	const again = { executionId: 'broken', context: {} };
	const binaries = Container.get(BinaryDataService);
	const readToEnd = binaries.getAsStream.bind(binaries);
	// The file is read twice: to learn about its columns, and to import it.
	jest.spyOn(binaries, 'getAsStream').mockImplementationOnce(readToEnd).mockImplementationOnce(async () =>
		Readable.from((function* () {
			for (let at = 0; at < file.length * 0.7; at += 65_536) yield file.subarray(at, Math.min(at + 65_536, file.length * 0.7));
			// undici and other clients end an interrupted stream with this error.
			throw new TypeError('terminated');
		})()),
	);
	await expect(importOf(file, {}, again)).rejects.toThrow(/n8n could not read the file .*terminated.*retry/);
	expect(await sandbox.writes()).toHaveLength(1);
	jest.restoreAllMocks();
	const { json } = await importOf(file, {}, again);
	expect(json).toMatchObject({ rows: 12, created: 12 });
});
