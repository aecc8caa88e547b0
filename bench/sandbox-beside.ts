import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoMembers } from '../sandbox/seed/demo-members.ts';
import { beside, rowsOf, type Slow, timesOfGets } from './beside.ts';
import { type Pair, type Row, rowOf } from './measure.ts';
import { growthOf } from './peak-memory.ts';
import { person, startSandbox } from './sandbox-server.ts';
import type { ServerProcess } from './server-process.ts';

/** `BENCH_CONTACTS=1000000 npm run bench sandbox` takes an hour. */
const contacts = Number(process.env['BENCH_CONTACTS'] ?? 100_000);
const largeMessages = 200;
const linesOfImport = 2000;
const roundsOfDueMessages = 3;

/** Filters that were not asked before, so that no total is remembered. */
const anew = (round: number) => `created_at[gt]=${new Date(Date.UTC(2000, 0, 1) + round).toISOString()}`;

const slowThings: Record<string, Slow> = {
	// First, because what it writes fills the log of events for the others.
	'imports records': async (server) => {
		const lines = Array.from({ length: linesOfImport }, () => JSON.stringify(person())).join('\n');
		const type = { 'Content-Type': 'application/x-ndjson' };
		await job(server, 'resource=contacts&operation=create', lines, type);
	},
	'filters by a custom field that is new': async ({ ask }, round) => {
		const field = { resource: 'contacts', key: `bench_${round + 1}`, label: 'x', type: 'text' };
		const { id } = JSON.parse(await ask('POST', '/v1/custom-fields', JSON.stringify(field))) as { id: string };
		await ask('GET', `/v1/contacts?custom_fields.${field.key}=x`);
		await ask('DELETE', `/v1/custom-fields/${id}`);
	},
	'exports by a filter without an index': (server, round) =>
		job(server, `resource=contacts&operation=export&job_title[contains]=zzz&${anew(round)}`),
	'searches for parts of texts, twice at once': ({ ask }, round) =>
		Promise.all(
			['a', 'b'].map((part) => ask('GET', `/v1/contacts?job_title[contains]=zz${part}&${anew(round)}`)),
		),
	'opens records in the console': async (server) => {
		const page = await server.ask('GET', '/v1/contacts?limit=5');
		const headers = { Cookie: await signedIn(server) };
		for (const { id } of (JSON.parse(page) as { data: Array<{ id: string }> }).data) {
			await server.ask('GET', `/records/contacts/${id}`, undefined, headers);
		}
	},
	'looks through the log in the console': async (server) =>
		server.ask('GET', '/events?type=deal.lost', undefined, { Cookie: await signedIn(server) }),
	'sends a form with thousands of rows': sendLargeForm,
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

/** Starts a job and waits for its end. */
async function job({ ask }: ServerProcess, query: string, lines?: string, headers?: Record<string, string>) {
	const { id } = JSON.parse(await ask('POST', `/v1/jobs?${query}`, lines, headers)) as { id: string };
	const hasEnded = async () => !(await ask('GET', `/v1/jobs/${id}`)).includes('"finished_at":null');
	while (!(await hasEnded())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** 10,000 messages that become due at once. */
async function besideDueMessages(server: ServerProcess): Promise<Row[]> {
	const message = { channel: 'other', direction: 'outbound', to: ['x'], text: 'x' };
	const hour = 3_600_000;
	const measured: Pair[] = [];
	for (let round = 0; round < roundsOfDueMessages; round++) {
		const scheduled_at = new Date(Date.now() + (2 * round + 1) * hour).toISOString();
		const items = Array.from({ length: 100 }, () => ({ ...message, scheduled_at }));
		for (let i = 0; i < 100; i++) {
			await server.ask('POST', '/v1/messages/batch/create', JSON.stringify({ items }));
		}
		const bare = await timesOfGets(server);
		await server.ask('POST', '/_sandbox/clock', JSON.stringify({ advance: 7200 }));
		measured.push({ ours: await timesOfGets(server, 500), bare });
		while ((await server.ask('GET', '/v1/messages?status=scheduled,queued,sending&limit=1')).includes('"object"')) {
			await new Promise((resolve) => setTimeout(resolve, 50));
		}
	}
	return rowsOf('a get while 10,000 messages are due', measured);
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

/** It is refused because of its rows, of which there are as many as a form may have. */
async function sendLargeForm(server: ServerProcess): Promise<void> {
	const headers = { Cookie: await signedIn(server) };
	const page = await server.ask('GET', '/records/contacts/new', undefined, headers);
	const hidden = (name: string) => `${name}=${encodeURIComponent(new RegExp(`name="${name}" value="([^"]*)"`).exec(page)![1]!)}`;
	const rows = Array.from({ length: 3900 }, (_, i) => `emails.${i}.value=x`);
	const body = [hidden('csrf'), hidden('form'), ...rows].join('&');
	const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
	const answer = await fetch(`${server.url}/records/contacts`, { method: 'POST', headers: { ...headers, ...type }, body });
	const html = await answer.text();
	if (!html.includes('must not be longer')) throw new Error(`The form was answered with ${answer.status}: ${html}`);
}

let cookie: string | undefined;

async function signedIn({ url }: ServerProcess): Promise<string> {
	if (cookie !== undefined) return cookie;
	const { email, password } = demoMembers[0]!;
	const body = new URLSearchParams({ email, password });
	const { headers } = await fetch(`${url}/sign-in`, { method: 'POST', body, redirect: 'manual' });
	return (cookie = headers.getSetCookie()[0]!.split(';')[0]!);
}
