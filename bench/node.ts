import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bareContacts, bareCreates } from './bare-loop.ts';
import { automatic, buildConnector, connectorTo, mapped } from './connector.ts';
import { type Pair, promised, type Row, rowOf, sideBySide, time } from './measure.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const contacts = 100_000;
const creates = 10_000;
/** Milliseconds before the service begins with a request, in the rows that say so. */
const distance = 50;

/** The node beside a loop that does the same over kept connections, with the same sandbox. */
export async function benchNode(): Promise<Row[]> {
	await buildConnector();
	console.log(`Sandboxes with ${inWords(contacts)} and ${inWords(2 * contacts)} contacts are filled.`);
	const sandbox = await startSandbox(contacts);
	try {
		return [
			...memory(sandbox),
			...(await reads(sandbox)),
			...(await writes(sandbox)),
			...(await mappings(sandbox)),
			await larger(),
		];
	} finally {
		await sandbox.stop();
	}
}

const inWords = (count: number) => count.toLocaleString('en');

const startSandbox = (count: number) => {
	const options = `--port 0 --api-key KEY --requests-per-minute 1000000 --contacts ${count} --faults`;
	return startServer([resolve('sandbox', 'main.ts'), ...options.split(' ')]);
};

const atDistance = (sandbox: ServerProcess, latencyMs: number) =>
	sandbox.ask('PUT', '/_sandbox/faults', JSON.stringify(latencyMs > 0 ? [{ latencyMs }] : []));

/** @throws where some are missing: then nothing was measured */
function whole(records: unknown[], count: number): void {
	if (records.length !== count) throw new Error(`${records.length} of ${count} records came.`);
}

/** In processes of their own, since one that has worked before holds what it will use again. */
function memory({ url }: ServerProcess): Row[] {
	const grown = (which: keyof Pair) => {
		const args = ['--expose-gc', resolve('bench', 'memory.ts'), which, url];
		const text = execFileSync(process.execPath, args, { encoding: 'utf8' });
		const { count, ...rest } = JSON.parse(text) as Record<'count' | 'held' | 'resident', number>;
		if (count !== contacts) throw new Error(`${count} of ${contacts} records came.`);
		return rest;
	};
	const ours = grown('ours');
	const bare = grown('bare');
	const what = `${inWords(contacts)} records,`;
	return [
		{ what: `${what} heap and external`, unit: 'MB', ours: ours.held, bare: bare.held },
		{ what: `${what} resident`, unit: 'MB', ours: ours.resident, bare: bare.resident },
	];
}

async function reads(sandbox: ServerProcess): Promise<Row[]> {
	const connector = connectorTo(sandbox.url);
	const beside = (rounds: number, options: { parallelReads?: number }) =>
		sideBySide(rounds, (which) =>
			time(async () => {
				const read = which === 'ours' ? connector.contacts(options) : bareContacts(sandbox);
				whole(await read, contacts);
			}),
		);
	const what = `${inWords(contacts)} records`;
	const one = { parallelReads: 1 };

	const rows = [
		promised(`${what}, one cursor`, 'ms', 2, await beside(3, one)),
		rowOf(`${what}, several cursors`, 'ms', await beside(3, {})),
	];
	await atDistance(sandbox, distance);
	const far = `${what} at ${distance} ms`;
	rows.push(
		promised(`${far}, one cursor`, 'ms', 1.05, await beside(2, one)),
		promised(`${far}, several cursors`, 'ms', 0.3, await beside(2, {})),
	);
	await atDistance(sandbox, 0);
	return rows;
}

let made = 0;
const people = () =>
	Array.from({ length: creates }, () => ({
		first_name: 'Ana',
		last_name: 'Moreno',
		email: `bench${made++}@x.example`,
		job_title: 'Engineer',
		lead_source: 'website',
	}));

async function writes(sandbox: ServerProcess): Promise<Row[]> {
	const connector = connectorTo(sandbox.url);
	const beside = (rounds: number) =>
		sideBySide(rounds, (which) => {
			const items = people();
			return time(async () => {
				const create =
					which === 'ours' ? connector.create(items, automatic) : bareCreates(sandbox, items);
				whole(await create, creates);
			});
		});
	const what = `${inWords(creates)} creates`;

	const near = promised(what, 'ms', 3, await beside(2));
	await atDistance(sandbox, distance);
	const far = promised(`${what} at ${distance} ms`, 'ms', 1.3, await beside(2));
	await atDistance(sandbox, 0);
	return [near, far];
}

/** Creates again, with nothing behind the server: what is left is the node's own work. */
async function mappings(sandbox: ServerProcess): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), 'bench-'));
	const answers = join(folder, 'answers.json');
	const batch = JSON.stringify({ items: people().slice(0, 100) });
	const answered = {
		'GET /openapi.json': await sandbox.ask('GET', '/openapi.json'),
		'POST /v1/contacts/batch/create': await sandbox.ask('POST', '/v1/contacts/batch/create', batch),
	};
	writeFileSync(answers, JSON.stringify(answered));
	const nothing = await startServer([resolve('bench', 'bare-server.ts'), answers]);
	try {
		const connector = connectorTo(nothing.url);
		const items = people();
		const names = Object.keys(items[0]!);
		const beside = (fields: object) =>
			sideBySide(3, (which) =>
				time(async () => {
					const create =
						which === 'ours' ? connector.create(items, { ...fields }) : bareCreates(nothing, items);
					whole(await create, creates);
				}),
			);
		const each = (expression: (name: string) => string) =>
			mapped(Object.fromEntries(names.map((name) => [name, expression(name)])));
		const plain = each((name) => `={{ $json.${name} }}`);
		const code = each((name) => `={{ $json.${name}.trim() }}`);
		const what = `${inWords(creates)} creates with nothing behind`;
		return [
			rowOf(`${what}, automatic mapping`, 'ms', await beside(automatic)),
			rowOf(`${what}, ${names.length} plain fields`, 'ms', await beside(plain)),
			rowOf(`${what}, ${names.length} code expressions`, 'ms', await beside(code)),
		];
	} finally {
		await nothing.stop();
		rmSync(folder, { recursive: true });
	}
}

async function larger(): Promise<Row> {
	const sandbox = await startSandbox(2 * contacts);
	const connector = connectorTo(sandbox.url);
	try {
		const values = await sideBySide(1, (which) =>
			time(async () => {
				const read = which === 'ours' ? connector.contacts() : bareContacts(sandbox);
				whole(await read, 2 * contacts);
			}),
		);
		return rowOf(`${inWords(2 * contacts)} records, several cursors`, 'ms', values);
	} finally {
		await sandbox.stop();
	}
}
