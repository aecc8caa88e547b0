import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoMembers } from '../sandbox/pages/demo-members.ts';
import { type Pair, percentile, type Row, rowOf, time } from './measure.ts';
import { growthOf } from './peak-memory.ts';
import { startSandbox } from './sandbox-server.ts';
import type { ServerProcess } from './server-process.ts';

/** `BENCH_CONTACTS=1000000 npm run bench sandbox` takes an hour. */
const contacts = Number(process.env['BENCH_CONTACTS'] ?? 100_000);
const gets = 400;
const largeMessages = 200;

/** Something slow that another client does; it is repeated while records are read. */
type Slow = (server: ServerProcess, round: number) => Promise<unknown>;

/** Filters that were not asked before, so that no total is remembered. */
const anew = (round: number) => `created_at[gt]=${new Date(Date.UTC(2000, 0, 1) + round).toISOString()}`;

const slowThings: Record<string, Slow> = {
	'exports by a filter without an index': async ({ ask }, round) => {
		const query = `resource=contacts&operation=export&job_title[contains]=zzz&${anew(round)}`;
		const { id } = JSON.parse(await ask('POST', `/v1/jobs?${query}`)) as { id: string };
		const hasEnded = async () => !(await ask('GET', `/v1/jobs/${id}`)).includes('"finished_at":null');
		while (!(await hasEnded())) await pause(20);
	},
	'searches for parts of texts, twice at once': ({ ask }, round) =>
		Promise.all(
			['a', 'b'].map((part) => ask('GET', `/v1/contacts?job_title[contains]=zz${part}&${anew(round)}`)),
		),
	'opens records in the console': async (server) => {
		const page = await server.ask('GET', '/v1/contacts?limit=5');
		for (const { id } of (JSON.parse(page) as { data: Array<{ id: string }> }).data) {
			await server.ask('GET', `/records/contacts/${id}`, undefined, { Cookie: await signedIn(server) });
		}
	},
	'sends a form with thousands of rows': async (server) => {
		const rows = Array.from({ length: 9000 }, (_, i) => `emails.${i}.value=x`).join('&');
		const headers = { Cookie: await signedIn(server), 'Content-Type': 'application/x-www-form-urlencoded' };
		await fetch(`${server.url}/records/contacts`, { method: 'POST', headers, body: rows });
	},
	'reads lists of large messages': ({ ask }) => ask('GET', '/v1/messages?channel=other&limit=500'),
	'polls events by type': ({ ask }) => ask('GET', '/v1/events?type=deal.lost'),
};

/** How long one client waits for a single record while another one does something slow. */
export async function benchBeside(): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), 'bench-'));
	console.log(`A sandbox with ${contacts.toLocaleString('en')} contacts is being filled.`);
	const server = await startSandbox(folder, 'beside', contacts, ['--faults']);
	try {
		await addLargeMessages(server);
		const rows: Row[] = [];
		for (const [what, slow] of Object.entries(slowThings)) rows.push(...(await beside(server, what, slow)));
		rows.push(...(await besideDueMessages(server)));
		rows.push(await memoryOfLargeLists(server));
		return rows;
	} finally {
		await server.stop();
		rmSync(folder, { recursive: true });
	}
}

async function beside(server: ServerProcess, what: string, slow: Slow): Promise<Row[]> {
	await slow(server, -1);
	const alone = await timesOfGets(server);
	let isOver = false;
	const others = async () => {
		for (let round = 0; !isOver; round++) await slow(server, round);
	};
	const other = others();
	const values = { ours: await timesOfGets(server), bare: alone };
	isOver = true;
	await other;
	return rowsOf(`a get while another client ${what}`, values);
}

/** 10,000 messages that become due at once. */
async function besideDueMessages(server: ServerProcess): Promise<Row[]> {
	const message = { channel: 'other', direction: 'outbound', to: ['x'], text: 'x' };
	const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
	const items = Array.from({ length: 100 }, () => ({ ...message, scheduled_at }));
	for (let i = 0; i < 100; i++) {
		await server.ask('POST', '/v1/messages/batch/create', JSON.stringify({ items }));
	}
	const bare = await timesOfGets(server);
	await server.ask('POST', '/_sandbox/clock', JSON.stringify({ advance: 7200 }));
	return rowsOf('a get while 10,000 messages are due', { ours: await timesOfGets(server), bare });
}

async function memoryOfLargeLists(server: ServerProcess): Promise<Row> {
	const list = () => server.ask('GET', '/v1/messages?channel=other&limit=500');
	const bare = [await growthOf(server.memory, 20, list)];
	const ours = [await growthOf(server.memory, 20, () => Promise.all(Array.from({ length: 10 }, list)))];
	return { ...rowOf('memory of ten lists of large messages at once, of one', 'MB', { ours, bare }), most: { value: 500 } };
}

async function addLargeMessages(server: ServerProcess): Promise<void> {
	const text = 'x'.repeat(250_000);
	const message = JSON.stringify({ channel: 'other', direction: 'inbound', to: ['x'], text, html: text });
	for (let i = 0; i < largeMessages; i++) await server.ask('POST', '/v1/messages', message);
}

async function timesOfGets({ ask }: ServerProcess): Promise<number[]> {
	const page = await ask('GET', '/v1/contacts?limit=100');
	const ids = (JSON.parse(page) as { data: Array<{ id: string }> }).data.map(({ id }) => id);
	const times: number[] = [];
	for (let i = 0; i < gets; i++) times.push(await time(() => ask('GET', `/v1/contacts/${ids[i % ids.length]}`)));
	return times;
}

function rowsOf(what: string, values: Pair): Row[] {
	const row = (share: number) =>
		rowOf(`${what}, p${share * 100}`, 'ms', values, (all) => percentile(all, share));
	return [row(0.5), { ...row(0.99), most: { ratio: 5 } }];
}

let cookie: string | undefined;

async function signedIn({ url }: ServerProcess): Promise<string> {
	if (cookie !== undefined) return cookie;
	const { email, password } = demoMembers[0]!;
	const body = new URLSearchParams({ email, password });
	const { headers } = await fetch(`${url}/sign-in`, { method: 'POST', body, redirect: 'manual' });
	return (cookie = headers.getSetCookie()[0]!.split(';')[0]!);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
