import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Pair, percentile, type Row, rowOf, sideBySide, time } from './measure.ts';
import { person, startSandbox, withSandbox } from './sandbox-server.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const contacts = 100_000;
const writers = 8;

/** The sandbox beside a bare server that responds with the same bytes. */
export async function benchSandbox(): Promise<Row[]> {
	return await withSandbox(contacts, async (ours, folder) => {
		const responsesFile = join(folder, 'responses.json');
		writeFileSync(responsesFile, JSON.stringify(await sampleResponses(ours)));
		const bare = await startServer([resolve('bench', 'bare-server.ts'), responsesFile]);
		const servers = { ours, bare };
		try {
			return [
				...(await pages(servers, 100, 500)),
				...(await pages(servers, 500, 100)),
				...(await pagesAfterChanges(servers)),
				rowOf('memory after that', 'MB', { ours: [ours.memory()], bare: [bare.memory()] }),
				...(await creates(servers)),
				...(await batches(servers)),
				...(await starts(folder, responsesFile)),
			];
		} finally {
			await bare.stop();
		}
	});
}

type Servers = Record<keyof Pair, ServerProcess>;

const batch = () => JSON.stringify({ items: Array.from({ length: 100 }, person) });

const sampleResponses = async (ours: ServerProcess) => ({
	'GET /v1/contacts/100': await ours.call('GET', '/v1/contacts?limit=100'),
	'GET /v1/contacts/500': await ours.call('GET', '/v1/contacts?limit=500'),
	'POST /v1/contacts': await ours.call('POST', '/v1/contacts', JSON.stringify(person())),
	'POST /v1/contacts/batch/create': await ours.call('POST', '/v1/contacts/batch/create', batch()),
});

/** Page after page, like a client that reads everything. */
async function pages({ ours, bare }: Servers, limit: number, count: number): Promise<Row[]> {
	let cursor = '';
	const values = await sideBySide(count, (which) =>
		time(async () => {
			if (which === 'bare') return bare.call('GET', `/v1/contacts/${limit}`);
			const page = await ours.call('GET', `/v1/contacts?limit=${limit}${cursor}`);
			// Parsing a page is the client's work and not measured: the cursor is found without it.
			const next = /"next_cursor":"([\w-]+)","total":\d+\}$/.exec(page.slice(-300))?.[1];
			cursor = next === undefined ? '' : `&cursor=${next}`;
			return page;
		}),
	);
	const label = `a page of ${limit} of ${contacts.toLocaleString('en')}`;
	return [0.5, 0.99].map((share) =>
		rowOf(`${label}, p${share * 100}`, 'ms', values, (all) => percentile(all, share)),
	);
}

/** One page again and again, each time after a record has changed. */
async function pagesAfterChanges({ ours, bare }: Servers): Promise<Row[]> {
	const first = JSON.parse(await ours.call('GET', '/v1/contacts?limit=1')) as {
		data: Array<{ id: string }>;
	};
	let changes = 0;
	const values = await sideBySide(200, async (which) => {
		if (which === 'bare') return await time(() => bare.call('GET', '/v1/contacts/100'));
		const change = JSON.stringify({ job_title: `Buyer ${changes++}` });
		await ours.call('PATCH', `/v1/contacts/${first.data[0]!.id}`, change);
		return await time(() => ours.call('GET', '/v1/contacts?limit=100'));
	});
	return [rowOf('a page of 100 after a change, p50', 'ms', values)];
}

async function creates(servers: Servers): Promise<Row[]> {
	const create = (which: keyof Pair) =>
		servers[which].call('POST', '/v1/contacts', JSON.stringify(person()));
	const single = await sideBySide(500, (which) => time(() => create(which)));
	const perWriter = 50;
	const rate = await sideBySide(5, async (which) => {
		const write = async () => {
			for (let i = 0; i < perWriter; i++) await create(which);
		};
		const ms = await time(() => Promise.all(Array.from({ length: writers }, write)));
		return (1000 * writers * perWriter) / ms;
	});
	return [
		rowOf('a create, p50', 'ms', single),
		rowOf('a create, p99', 'ms', single, (all) => percentile(all, 0.99)),
		rowOf(`creates, ${writers} at once`, 'per second', rate),
	];
}

async function batches(servers: Servers): Promise<Row[]> {
	const values = await sideBySide(20, async (which) => {
		const body = batch();
		const ms = await time(() => servers[which].call('POST', '/v1/contacts/batch/create', body));
		return (1000 * 100) / ms;
	});
	return [rowOf('items of batches of 100', 'per second', values)];
}

/** The start with 200 contacts, which is the default, until it listens. */
async function starts(folder: string, responsesFile: string): Promise<Row[]> {
	const values = await sideBySide(5, async (which, round) => {
		let server: ServerProcess | undefined;
		const ms = await time(async () => {
			server =
				which === 'ours'
					? await startSandbox(200, '--db', join(folder, `start-${round}.db`))
					: await startServer([resolve('bench', 'bare-server.ts'), responsesFile]);
		});
		await server!.stop();
		return ms;
	});
	return [rowOf('start', 'ms', values)];
}
