import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { bareInserts } from './bare-inserts.ts';

/**
 * A server with only the bare loop behind it. Like the sandbox, it takes a batch or a job of contacts and
 * returns the records or the job; it checks no key and responds to no other requests while it writes.
 */
const [path, existingRecords, perTransaction] = process.argv.slice(2) as [string, string, string];
const bare = bareInserts(path, Number(existingRecords), Number(perTransaction));
const jobs = new Map<string, { id: string; finished_at: string | null }>();

const routes: Record<string, (body: string) => string> = {
	'/v1/contacts/batch/create'(body) {
		const { items } = JSON.parse(body) as { items: unknown[] };
		const results = bare.create(items).map((data, index) => `{"index":${index},"status":201,"data":${data}}`);
		return `{"results":[${results.join()}]}`;
	},
	'/v1/jobs'(body) {
		const job = { id: `job_${jobs.size}`, finished_at: null as string | null };
		jobs.set(job.id, job);
		setImmediate(() => {
			bare.createFromLines(body.split('\n'));
			job.finished_at = new Date().toISOString();
		});
		return JSON.stringify(job);
	},
};

const server = createServer((incoming, outgoing) => {
	void text(incoming).then((body) => {
		const route = incoming.url!.split('?')[0]!;
		const response = routes[route]?.(body) ?? JSON.stringify(jobs.get(route.split('/').at(-1)!));
		outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end(response);
	});
});
server.listen(0, '127.0.0.1', () => {
	console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
