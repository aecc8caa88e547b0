import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installN8n } from '../tools/n8n.mjs';
import { buildConnector } from './connector.ts';
import type { FileTask, FileWork } from './file-process.ts';
import { memoryInN8n } from './files-in-n8n.ts';
import { type Row, rowOf, sideBySide, time } from './measure.ts';
import { runJob } from './run-job.ts';
import { withSandbox } from './sandbox-server.ts';
import type { ServerProcess } from './server-process.ts';

/** The connector's limit, so that both do the same. */
const perJob = 5_000;
const jobsAtOnce = 3;

/** Import File and Export File beside a loop that sends the same rows to jobs, and writes the same records. */
export async function benchFiles(size?: number): Promise<Row[]> {
	const [rows, rounds] = size === undefined ? [100_000, 2] : [size, 0];
	await buildConnector();
	return await withSandbox(0, async (server, folder) => {
		const timed = async (work: 'import' | 'export', more: Partial<FileTask>, expected: number) => {
			const done = await inProcess({ url: server.url, work, ...more });
			if (done.count !== expected) throw new Error(`${done.count} of ${expected} records went through ${work}.`);
			return done.milliseconds;
		};
		const imports = await sideBySide(rounds, async (which, round) => {
			const people = peopleOf(`${which}${round}`, rows);
			if (which === 'bare') return await time(async () => await bareImport(server, people));
			const warmUp = csvFile(folder, 'warm-up', peopleOf(`warm${round}`, 10));
			return await timed('import', { file: csvFile(folder, 'people', people), warmUp }, rows);
		});
		const { total } = JSON.parse(await server.call('GET', '/v1/contacts?limit=1')) as { total: number };
		const exports = await sideBySide(rounds, async (which) =>
			which === 'bare'
				? await time(async () => await bareExport(server, join(folder, 'bare.csv')))
				: await timed('export', {}, total),
		);
		return [
			rowOf(`import of ${rows.toLocaleString('en')} rows of CSV`, 'ms', imports),
			rowOf(`export of ${total.toLocaleString('en')} contacts as CSV`, 'ms', exports),
			...(await withSandbox(0, async (other, place) => await memoryInN8n(other, place, 3 * rows))),
		];
	});
}

/** Import File beside n8n's alternative: Extract from File, then batches of Create. */
export async function benchFilesBesideN8n(size?: number): Promise<Row[]> {
	const [rows, rounds] = size === undefined ? [100_000, 1] : [size, 0];
	const n8n = await installN8n();
	return await withSandbox(0, async (server, folder) => {
		const growths: Record<'ours' | 'bare', number[]> = { ours: [], bare: [] };
		const pair = await sideBySide(rounds, async (which, round) => {
			const file = csvFile(folder, 'people', peopleOf(`${which}-${round}`, rows));
			const warmUp = csvFile(folder, 'warm-up', peopleOf(`warm-${which}-${round}`, 10));
			const work = which === 'ours' ? 'import' : 'extract';
			const done = await inProcess({ url: server.url, work, file, warmUp, n8n });
			if (done.count !== rows) throw new Error(`${done.count} of ${rows} records went through ${work}.`);
			growths[which].push(done.growth);
			return done.milliseconds;
		});
		const label = `${rows.toLocaleString('en')} rows of CSV`;
		return [
			rowOf(label, 'ms', pair),
			{ label: 'memory, the same', unit: 'MB', ours: Math.max(...growths.ours), bare: Math.max(...growths.bare) },
		];
	});
}

async function inProcess(task: FileTask): Promise<FileWork> {
	const args = ['--expose-gc', resolve('bench', 'file-process.ts'), JSON.stringify(task)];
	const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
	const output: Buffer[] = [];
	child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
	const [code] = (await once(child, 'close')) as [number | null];
	if (code !== 0) throw new Error(`The process of ${task.work} ended with ${code}.`);
	return JSON.parse(Buffer.concat(output).toString()) as FileWork;
}

interface Person {
	last_name: string;
	email: string;
	job_title: string;
	external_id: string;
}

const peopleOf = (name: string, count: number): Person[] =>
	Array.from({ length: count }, (_, i) => ({
		last_name: `Moreno ${i}`,
		email: `${name}.${i}@files.example`,
		job_title: 'Head of Purchasing, Spare Parts',
		external_id: `${name}-${i}`,
	}));

function csvFile(folder: string, name: string, people: Person[]): string {
	const path = join(folder, `${name}.csv`);
	const lines = people.map((person) => Object.values(person).map((value) => `"${value}"`).join());
	writeFileSync(path, `${Object.keys(people[0]!).join()}\n${lines.join('\n')}\n`);
	return path;
}

/** Jobs of a given number of lines, a few at a time; the results are read as text. */
async function bareImport(server: ServerProcess, people: Person[]): Promise<void> {
	server.closeConnections();
	let next = 0;
	const lane = async () => {
		while (next < people.length) {
			const lines = people.slice(next, (next += perJob)).map((person) => JSON.stringify(person));
			const id = await runJob(server, 'resource=contacts&operation=create', { lines: lines.join('\n') });
			const results = await server.call('GET', `/v1/jobs/${id}/results`);
			if (results.split('"status":201').length - 1 !== lines.length) throw new Error('A line was not created.');
		}
	};
	await Promise.all(Array.from({ length: jobsAtOnce }, lane));
}

/** One job, whose results become rows of CSV with a column for each member of a record. */
async function bareExport(server: ServerProcess, path: string): Promise<void> {
	server.closeConnections();
	const id = await runJob(server, 'resource=contacts&operation=export');
	const lines = (await server.call('GET', `/v1/jobs/${id}/results`)).trimEnd().split('\n');
	const file = createWriteStream(path);
	file.write(`${Object.keys(JSON.parse(lines[0]!) as object).join()}\r\n`);
	for (let from = 0; from < lines.length; from += 1_000) {
		const rows = lines.slice(from, from + 1_000).map((line) => {
			const cells = Object.values(JSON.parse(line) as Record<string, unknown>);
			return `${cells.map(bareCell).join()}\r\n`;
		});
		if (!file.write(rows.join(''))) await once(file, 'drain');
	}
	file.end();
	await once(file, 'finish');
}

function bareCell(value: unknown): string {
	const text = value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
	return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
