import { measureGetsBeside, rowsOf, timesOfGets } from './gets-beside.ts';
import { type Pair, type Row, rowOf } from './measure.ts';
import { growthOf } from './peak-memory.ts';
import { withSandbox } from './sandbox-server.ts';
import type { ServerProcess } from './server-process.ts';
import { listOfLargeMessages, slowActivities } from './slow-activities.ts';

/** `BENCH_CONTACTS=1000000 npm run bench sandbox` takes an hour. */
const contacts = Number(process.env['BENCH_CONTACTS'] ?? 100_000);
const largeMessages = 200;
const roundsOfDueMessages = 3;

/** How long one client waits for a single record while another does something slow. */
export async function benchBeside(): Promise<Row[]> {
	return await withSandbox(contacts, measureBeside, '--faults');
}

async function measureBeside(server: ServerProcess): Promise<Row[]> {
	await addLargeMessages(server);
	const rows: Row[] = [];
	for (const activity of Object.keys(slowActivities)) rows.push(...(await measureGetsBeside(server, activity)));
	rows.push(...(await besideDueMessages(server)));
	rows.push(await memoryOfLargeLists(server));
	return rows;
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
			await server.call('POST', '/v1/messages/batch/create', JSON.stringify({ items }));
		}
		const bare = await timesOfGets(server);
		await server.call('POST', '/_sandbox/clock', JSON.stringify({ advance: 7200 }));
		measured.push({ ours: await timesOfGets(server), bare });
		while ((await server.call('GET', '/v1/messages?status=scheduled,queued,sending&limit=1')).includes('"object"')) {
			await new Promise((resolve) => setTimeout(resolve, 50));
		}
	}
	return rowsOf('a get while 10,000 messages are due', measured);
}

async function memoryOfLargeLists(server: ServerProcess): Promise<Row> {
	const list = () => server.call('GET', listOfLargeMessages);
	const bare = [await growthOf(server.memory, 20, list)];
	const ours = [await growthOf(server.memory, 20, () => Promise.all(Array.from({ length: 10 }, list)))];
	return { ...rowOf('memory of ten lists of large messages at once, of one', 'MB', { ours, bare }), max: { value: 500 } };
}

async function addLargeMessages(server: ServerProcess): Promise<void> {
	const text = 'x'.repeat(250_000);
	const message = JSON.stringify({ channel: 'other', direction: 'inbound', to: ['x'], text, html: text });
	for (let i = 0; i < largeMessages; i++) await server.call('POST', '/v1/messages', message);
}
